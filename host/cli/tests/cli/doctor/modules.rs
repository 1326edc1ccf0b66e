//! The settings of modules, and where compiled ones are kept.

use super::*;

#[test]
fn the_settings_are_looked_at_and_their_faults_hide_nothing_else() {
    let (home, _stage) = connected();
    let said = Said::offline(&home).only(0, &[]);
    said.is_well(&["config.toml", "compiled modules"]);
    assert_eq!(said.found("config.toml"), "none; everything is as usual");
    home.write("config.toml", "[sandbox]\ncalls = 0\nfule = 1");
    let (calls, fuel) = ("`calls` is `0`", "there is no setting `fule`");
    for found in [calls, fuel] {
        Said::offline(&home).only(1, &[("wrong", "config.toml", found, "write `[sandbox]`")]).is_well(&[
            "home",
            "database",
            "compiled modules",
        ]);
    }
    home.write("config.toml", "[sandbox]\ncache_bytes = 0");
    let said = Said::offline(&home).only(0, &[]);
    assert_eq!(said.found("compiled modules"), "none are kept, as `config.toml` says");
}

#[test]
fn the_cache_is_counted_and_said_to_be_unusable_where_it_is() {
    let (home, _stage) = connected();
    assert_eq!(Said::offline(&home).only(0, &[]).found("compiled modules"), "none kept yet");
    home.write("cache/modules/one.module", "12345");
    home.write("cache/modules/two.module", "123");
    for folder in ["cache", "cache/modules"] {
        #[cfg(unix)]
        chmod(&home, folder, 0o700);
    }
    home.write("config.toml", "[sandbox]\ncache_bytes = 2000000");
    let found = Said::offline(&home).only(0, &[]).found("compiled modules");
    assert!(found.ends_with("cache/modules`: 2, 8 B of 2.0 MB at most"), "{found}");
    home.write("cache/modules.key", "short");
    #[cfg(unix)]
    chmod(&home, "cache/modules.key", 0o600);
    let key = ("wrong", "compiled modules", "is not a key", "remove `");
    Said::offline(&home).only(1, &[key]).is_well(&["config.toml", "database"]);
    #[cfg(unix)]
    {
        chmod(&home, "cache/modules", 0o777);
        let open = ("wrong", "compiled modules", "others than its owner can put files into", "`chmod 700");
        Said::offline(&home).only(1, &[open]).is_well(&["config.toml", "database"]);
    }
}
