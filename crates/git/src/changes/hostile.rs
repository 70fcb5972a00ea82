//! Whatever git prints, nothing breaks, and no path is made up.

use proptest::prelude::*;

use super::*;

/// What `diff --raw --numstat -z` prints: files changed, added, deleted and renamed, a binary one, a submodule.
fn printed() -> Vec<Vec<u8>> {
    let (old, new) =
        ("ce013625030ba8dba906f756967f9e9ca394464a", "94954abda49de8615a048f8d2e64b5de848e27a1");
    let none = "0".repeat(40);
    let raw = [
        format!(":100644 100755 {old} {new} M\0a b.txt\0"),
        format!(":000000 100644 {none} {new} A\0grün.rs\0"),
        format!(":100644 000000 {old} {none} D\0gone\0"),
        format!(":100644 100644 {old} {new} R091\0from\0to\0"),
        format!(":160000 160000 {old} {new} M\0module\0"),
        format!(":100644 100644 {old} {new} M\0picture.png\0"),
    ];
    let counts = "1\t2\ta b.txt\0\
        7\t0\tgrün.rs\0\
        0\t3\tgone\0\
        1\t1\t\0from\0to\0\
        1\t1\tmodule\0\
        -\t-\tpicture.png\0";
    let renamed = raw[3].clone() + "1\t1\t\0from\0to\0";
    [raw.concat() + counts, renamed].map(String::into_bytes).to_vec()
}

#[test]
fn what_is_printed_is_right_before_it_is_damaged() {
    let changes = parse(&printed()[0]).unwrap();
    let counted = changes.iter().filter(|change| change.counts.is_some()).count();
    assert_eq!((changes.len(), counted), (6, 5), "{changes:?}");
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn git_may_print_anything(printed in liminal_hostile::file(printed())) {
        if let Ok(changes) = parse(&printed) {
            let paths: BTreeSet<_> = changes.iter().map(|change| change.path.clone()).collect();
            prop_assert_eq!(paths.len(), changes.len(), "each path once");
            for change in &changes {
                let path = change.path.as_bytes();
                let is_printed = printed.windows(path.len()).any(|bytes| bytes == path);
                prop_assert!(is_printed, "{} was not printed", change.path);
                prop_assert!(!change.path.to_string().is_empty() && !change.version().is_empty());
            }
        }
        for path in unmerged_paths(&printed) {
            prop_assert!(!path.as_bytes().contains(&0));
        }
        let _refused_or_not = parse_columns(&printed);
    }
}
