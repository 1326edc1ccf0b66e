-- Rows that version 1 has written, one of each kind; not to be changed.
INSERT INTO clock (one, latest)
VALUES (1, 1800000000);
INSERT INTO uses (grant_id, member, spent)
VALUES ('7NnEpT6hXxhEewj7lqE8Wg', NULL, 2);
INSERT INTO revoked (grant_id, member)
VALUES ('5GO8sablcoj_1GcVAwgvqA', NULL);
INSERT INTO connections (id, member, service, label, account, host, cap, dial, gen, created_at, sealed)
VALUES ('vvuoaungwgeGX34k6DSdTg', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'work', 'wren', 'api.github.com', 'write', 'real', 0, 1800000000, X'77686174207374616E647320666F722061207365616C65642063726564656E7469616C');
INSERT INTO connections (id, member, service, label, account, host, cap, dial, gen, created_at, sealed)
VALUES ('h6l3l0iIjaXZa7vOBBtRCQ', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'home', 'wren', 'api.github.com', 'write', 'real', 0, 1800000000, X'77686174207374616E647320666F722061207365616C65642063726564656E7469616C');
INSERT INTO grants (id, member, bot, connection, service, access, expires_at, sealed)
VALUES ('smC4oQNDv1pdrLTx0y0GxA', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'SiOSmOZn4ybsx3mOmFbfz7Tg933y83p3g3PTXEy82ik', 'vvuoaungwgeGX34k6DSdTg', 'github', 'read', 1800003600, X'040506');
INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at, expires_at, state, answered_at, grant_id, until, sealed)
VALUES ('qcn3-zcpd', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'create_issue', '{"owner":"wren","repo":"nest","title":"denied"}', 'sha256:29aab798deca10aba7bb645f69baee197f3c9533fc06580c01b289e046f57d0d', 'vvuoaungwgeGX34k6DSdTg', 'wren', 'SiOSmOZn4ybsx3mOmFbfz7Tg933y83p3g3PTXEy82ik', 'sha256:68565b833e135203d53c06cadaab581e386caa7b2fbd750a1bac9aeb522b172c', '[{"found":false,"path":"$.archived"}]', 1799999995, 1800003595, 'denied', 1799999995, NULL, NULL, NULL);
INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at, expires_at, state, answered_at, grant_id, until, sealed)
VALUES ('z5m1-ms6k', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'create_issue', '{"owner":"wren","repo":"nest","title":"used"}', 'sha256:29aab798deca10aba7bb645f69baee197f3c9533fc06580c01b289e046f57d0d', 'vvuoaungwgeGX34k6DSdTg', 'wren', 'SiOSmOZn4ybsx3mOmFbfz7Tg933y83p3g3PTXEy82ik', 'sha256:e9370dd4931d892cd95db2f273d2768a88a0e8ff3484c122d89cf51f88b348c2', '[{"found":false,"path":"$.archived"}]', 1799999996, 1800003596, 'used', 1799999996, 'jvhp1Yt2AxMyiIVk52sAQQ', 1800000060, NULL);
INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at, expires_at, state, answered_at, grant_id, until, sealed)
VALUES ('9ger-qc8m', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'create_issue', '{"owner":"wren","repo":"nest","title":"approved"}', 'sha256:29aab798deca10aba7bb645f69baee197f3c9533fc06580c01b289e046f57d0d', 'vvuoaungwgeGX34k6DSdTg', 'wren', 'SiOSmOZn4ybsx3mOmFbfz7Tg933y83p3g3PTXEy82ik', 'sha256:227363c8c4f50af40e1feb7fb7eda4af40fdd6cab57a9bcba9296ffd8bf6f3aa', '[{"found":false,"path":"$.archived"}]', 1799999997, 1800003597, 'approved', 1799999997, '8cZv8sS5oA6-rcz4CH1Ufw', 1800000060, X'617070726F76616C');
INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at, expires_at, state, answered_at, grant_id, until, sealed)
VALUES ('31ft-2fn5', 'OpEoUkuKShoQtIpFwB40cAJdjQ7c9YqRkwkg3SPePlg', 'github', 'create_issue', '{"owner":"wren","repo":"nest","title":"pending"}', 'sha256:29aab798deca10aba7bb645f69baee197f3c9533fc06580c01b289e046f57d0d', 'vvuoaungwgeGX34k6DSdTg', 'wren', 'SiOSmOZn4ybsx3mOmFbfz7Tg933y83p3g3PTXEy82ik', 'sha256:2c5930b5a294ca680f698184af83bd6d8bb8b28b78d866188ef7091f2eedba34', '[{"found":false,"path":"$.archived"}]', 1799999998, 1800003598, 'pending', NULL, NULL, NULL, NULL);
