//! Whatever Claude Code says about its options, nothing breaks, and the chosen values are among those offered.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// What it says at the start and later, by where it does.
fn told() -> Vec<String> {
    let models = json!([
        {"value": "default", "resolvedModel": "m1", "displayName": "Default", "description": "d",
            "supportedEffortLevels": ["low", "xhigh"]},
        {"value": "opus", "resolvedModel": "m2", "displayName": "Opus", "supportedEffortLevels": []},
    ]);
    let settings =
        json!({"effective": {"model": "opus"}, "applied": {"model": "m2", "effort": "low"}});
    let told = json!({"models": models, "mode": "default", "settings": settings, "works": "m1", "then": "plan"});
    vec![told.to_string()]
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn claude_may_offer_any_options(told in liminal_hostile::text(told())) {
        let told: Value = serde_json::from_slice(&told).unwrap_or_default();
        let words = |name: &str| told[name].as_str().unwrap_or_default();
        let mut options = Options::default();
        let models = serde_json::from_value(told["models"].clone()).unwrap_or_default();
        options.initialized(models, words("mode").to_owned());
        options.settings(&told["settings"]);
        options.resolved(words("works"));
        options.mode(words("then"));
        let list = options.list();
        let ids: BTreeSet<_> = list.iter().map(|option| option.id.as_str()).collect();
        prop_assert_eq!(ids.len(), list.len(), "each option once");
        for option in list.iter().filter(|option| option.id != EFFORT) {
            prop_assert!(option.choice(&option.value).is_some(), "{option:?}");
        }
    }
}
