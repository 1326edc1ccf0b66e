//! Which tools are listed, in which order and on which page, and which are found by name.

use super::*;

#[test]
fn every_tool_of_every_manifest_has_a_name_that_every_client_takes() {
    let catalog = built_in();
    let (connections, offer) = (all(&catalog, Access::Write), Offer::default().in_mode(ToolsMode::Each));
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let names = names(&toolbox);
    let ops: usize = catalog.iter().map(|entry| entry.manifest.ops().len()).sum();
    assert_eq!(names.len(), ops + 1);
    assert!(names.is_sorted_by(|one, next| one < next));
    for name in names {
        assert!((1..=48).contains(&name.len()), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
        assert!(toolbox.find(&name).is_some(), "{name}");
    }
    assert!(toolbox.find("github_no_such_op").is_none());
    assert!(toolbox.find("github").is_none());
    assert!(toolbox.find("find_ops").is_none());
}

#[test]
fn a_manifest_whose_tools_would_have_longer_names_does_not_load() {
    let long = "a".repeat(40);
    assert!(pinhole_manifest::read(&manifest("abcdefg", &[&long], |_, _| {})).into_result().is_ok());
    assert!(pinhole_manifest::read(&manifest("abcdefgh", &[&long], |_, _| {})).into_result().is_err());
}

#[test]
fn names_are_sorted_also_where_one_service_begins_like_another() {
    let catalog =
        catalog_of(&["ab", "ab1", "abc"].map(|service| manifest(service, &["x", "a_b"], |_, _| {})));
    let (connections, offer) = (all(&catalog, Access::Read), Offer::default());
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let names = names(&toolbox);
    assert_eq!(names, ["ab1_a_b", "ab1_x", "ab_a_b", "ab_x", "abc_a_b", "abc_x", "explain"]);
}

#[test]
fn only_what_is_connected_capped_reached_and_offered_shows_and_is_found() {
    let catalog = built_in();
    let reads = [connected("github", "a", Access::Read)];
    let writes = [connected("github", "a", Access::Read), connected("github", "b", Access::Write)];
    let (all, read_only) = (Offer::default(), Offer::default().read_only());
    let reach = Reach::default();
    let reach_reads = Reach::default().only(&[Access::Read]);
    let reach_other = Reach::default().of([ServiceId::parse("stripe").unwrap()]);
    let lists = Offer::default().of_ops(["github.list_*".parse().unwrap(), "stripe.*".parse().unwrap()]);
    let other = Offer::default().of_services([ServiceId::parse("stripe").unwrap()]);
    let cases: [(&[Connected], &Reach, &Offer, bool, bool); 8] = [
        (&[], &reach, &all, false, false),
        (&reads, &reach, &all, true, false),
        (&writes, &reach, &all, true, true),
        (&writes, &reach_reads, &all, true, false),
        (&writes, &reach_other, &all, false, false),
        (&writes, &reach, &read_only, true, false),
        (&writes, &reach, &lists, true, false),
        (&writes, &reach, &other, false, false),
    ];
    for (connections, reach, offer, read, write) in cases {
        for mode in [ToolsMode::Auto, ToolsMode::Search] {
            let offer = offer.clone().in_mode(mode);
            let toolbox = Toolbox::new(&catalog, connections, reach, &offer);
            let names = names(&toolbox);
            for (name, wanted) in [("github_list_issues", read), ("github_create_issue", write)] {
                assert_eq!(
                    toolbox.find(name).is_some(),
                    wanted,
                    "{name} {connections:?} {reach:?} {offer:?}"
                );
                let each = mode == ToolsMode::Auto;
                assert_eq!(names.iter().any(|known| known == name), wanted && each, "{name}");
                let op = toolbox.describe_op(Some(object(&serde_json::json!({"op": name}))));
                assert_eq!(op.is_ok(), wanted, "{name}");
            }
            assert!(names.contains(&"explain".to_owned()));
            let run_write = names.contains(&"run_write_op".to_owned());
            assert_eq!(run_write, write && mode == ToolsMode::Search, "{names:?}");
            assert_eq!(toolbox.find("run_write_op").is_some(), run_write);
            assert_eq!(toolbox.has_writes(), write);
        }
    }
}

#[test]
fn an_op_takes_only_the_connections_whose_cap_covers_it() {
    let catalog = built_in();
    let connections = [
        connected("github", "work", Access::Write),
        connected("github", "home", Access::Read),
        connected("github", "lab", Access::Write),
    ];
    let offer = Offer::default();
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for (name, wanted) in [
        ("github_list_issues", serde_json::json!(["home", "lab", "work"])),
        ("github_create_issue", serde_json::json!(["lab", "work"])),
    ] {
        let Some(Target::Op(op)) = toolbox.find(name) else { panic!("{name}") };
        let schema = op.tool().input_schema;
        assert_eq!(schema["properties"]["connection"]["enum"], wanted);
        assert!(schema["required"].as_array().unwrap().contains(&"connection".into()));
    }
    let one = Toolbox::new(&catalog, &connections[..1], &Reach::default(), &offer);
    let Some(Target::Op(op)) = one.find("github_list_issues") else { panic!() };
    assert!(op.tool().input_schema["properties"].get("connection").is_none());
}

#[test]
fn more_than_forty_ops_are_found_by_search() {
    let names = |count: usize| (0..count).map(|n| format!("op{n}")).collect::<Vec<_>>();
    for (count, search) in [(40, false), (41, true)] {
        let ops = names(count);
        let ops: Vec<&str> = ops.iter().map(String::as_str).collect();
        let catalog = catalog_of(&[manifest("many", &ops, |_, _| {})]);
        let (connections, offer) = (all(&catalog, Access::Write), Offer::default());
        let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
        assert_eq!(toolbox.is_search(), search);
        assert_eq!(toolbox.ops_count(), count);
        let listed = super::names(&toolbox);
        if search {
            assert_eq!(listed, ["describe_op", "explain", "find_ops", "run_read_op"]);
        } else {
            assert_eq!(listed.len(), 41);
        }
        // A client may hold the list of before.
        assert!(matches!(toolbox.find("many_op7"), Some(Target::Op(_))));
    }
}

#[test]
fn a_page_leads_to_the_next_of_the_same_list_alone() {
    let catalog = built_in();
    let connections = all(&catalog, Access::Write);
    let offer = Offer::default().in_mode(ToolsMode::Each);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let (first, cursor) = toolbox.page(None).unwrap();
    let cursor = cursor.unwrap();
    assert_eq!(first.len(), PAGE_TOOLS);
    let (second, _) = toolbox.page(Some(&cursor)).unwrap();
    assert!(first.last().unwrap().name < second.first().unwrap().name);

    let again = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    assert!(again.page(Some(&cursor)).is_ok());
    let fewer = Toolbox::new(&catalog, &connections[1..], &Reach::default(), &offer);
    assert_eq!(fewer.page(Some(&cursor)).unwrap_err(), BadCursor);
    let reads = Reach::default().only(&[Access::Read]);
    assert_eq!(Toolbox::new(&catalog, &connections, &reads, &offer).page(Some(&cursor)), Err(BadCursor));
    let confirming = offer.clone().with_confirm_arg(ConfirmArg::Reversible);
    let confirming = Toolbox::new(&catalog, &connections, &Reach::default(), &confirming);
    assert_eq!(confirming.page(Some(&cursor)), Err(BadCursor));
    for bad in ["", "AAAA", "not base64!", cursor.get(..20).unwrap(), &format!("{cursor}AA")] {
        assert_eq!(toolbox.page(Some(bad)), Err(BadCursor), "{bad}");
    }
    for from in [0, 1, 63, 65, 64 * 1000, usize::MAX] {
        let made_up = cursor::write(toolbox.digest(), from);
        assert_eq!(toolbox.page(Some(&made_up)), Err(BadCursor), "{from}");
    }
}

#[test]
fn the_access_of_a_tool_is_known_by_its_name() {
    let catalog = built_in();
    for (name, wanted) in [
        ("github_list_issues", Some(Access::Read)),
        ("github_create_issue", Some(Access::Write)),
        ("run_write_op", Some(Access::Write)),
        ("run_read_op", Some(Access::Read)),
        ("explain", Some(Access::Read)),
        ("github_nothing", None),
        ("nothing_at_all", None),
        ("", None),
    ] {
        assert_eq!(access_of(&catalog, name), wanted, "{name}");
    }
    // The graver counts where an op has the name of one of ours.
    let catalog = catalog_of(&[manifest("run", &["write_op", "read_op"], |name, op| {
        if name == "read_op" {
            op["access"] = "write".into();
            op["confirm"] = "Sure?".into();
            op["effect"] = "create".into();
            op["request"]["method"] = "POST".into();
        }
    })]);
    assert_eq!(access_of(&catalog, "run_read_op"), Some(Access::Write));
}

#[test]
fn hints_say_all_four_by_what_a_write_does() {
    let catalog = built_in();
    let connections = all(&catalog, Access::Write);
    let offer = Offer::default().in_mode(ToolsMode::Each);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for tool in listed(&toolbox) {
        let hints = tool.annotations.unwrap();
        assert_eq!(hints.title, tool.title);
        assert!(hints.destructive_hint.is_some() && hints.idempotent_hint.is_some(), "{}", tool.name);
        assert!(hints.read_only_hint.is_some() && hints.open_world_hint.is_some(), "{}", tool.name);
        let writes = access_of(&catalog, &tool.name) == Some(Access::Write);
        assert_eq!(hints.read_only_hint, Some(!writes), "{}", tool.name);
    }
    for (name, wanted) in [
        ("github_list_issues", [true, false, true, true]),
        ("github_create_issue", [false, false, false, true]),
        ("github_update_issue", [false, true, false, true]),
        ("github_comment_issue", [false, true, false, true]),
        ("gitlab_update_issue", [false, true, true, true]),
        ("cloudflare_delete_record", [false, true, true, true]),
        ("slack_delete_message", [false, true, false, true]),
        ("pagerduty_reassign_incident", [false, true, false, true]),
        ("stripe_create_refund", [false, true, false, true]),
        ("stripe_create_customer", [false, false, false, true]),
        ("explain", [true, false, true, false]),
    ] {
        let tools = listed(&toolbox);
        let hints = tools.iter().find(|tool| tool.name == name).unwrap().annotations.clone().unwrap();
        let said = [
            hints.read_only_hint.unwrap(),
            hints.destructive_hint.unwrap(),
            hints.idempotent_hint.unwrap(),
            hints.open_world_hint.unwrap(),
        ];
        assert_eq!(said, wanted, "{name}");
    }
}

#[test]
fn a_create_that_cannot_be_taken_back_is_destructive() {
    let catalog = catalog_of(&[manifest("made", &["write_a", "write_b"], |name, op| {
        op["irreversible"] = (name == "write_b").into();
    })]);
    let (connections, offer) = (all(&catalog, Access::Write), Offer::default());
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for (name, wanted) in [("made_write_a", false), ("made_write_b", true)] {
        let Some(Target::Op(op)) = toolbox.find(name) else { panic!("{name}") };
        assert_eq!(op.tool().annotations.unwrap().destructive_hint, Some(wanted), "{name}");
    }
}

fn object(value: &serde_json::Value) -> rmcp::model::JsonObject {
    value.as_object().unwrap().clone()
}

/// A tool a line.
fn lines(tools: &[Tool]) -> String {
    let lines: Vec<String> = tools.iter().map(|tool| serde_json::to_string(tool).unwrap()).collect();
    lines.join("\n")
}

#[test]
fn lists_of_tools_are_as_they_were() {
    let catalog = built_in();
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    for service in ["github", "linear"] {
        let connections = [connected(service, "default", Access::Write)];
        let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
        insta::assert_snapshot!(service, lines(&listed(&toolbox)));
    }
    let connections = [connected("github", "home", Access::Read), connected("github", "work", Access::Write)];
    let offer = offer.in_mode(ToolsMode::Search);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    insta::assert_snapshot!("search", lines(&listed(&toolbox)));
}
