//! Whatever is uploaded is a picture, a text or refused, and whatever a message mentions is inside its workspace.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn files() -> Vec<Vec<u8>> {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x05\0\0\0\x03";
    let jpeg = b"\xff\xd8\xff\xe0\0\x04\x01\x02\xff\xff\xc2\0\x09\x08\0\x03\0\x05\0";
    let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x05\x40\x03\x40";
    let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x04\x80\0\0";
    let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x04\0\0\x02\0\0";
    let gif = b"GIF89a\x05\0\x03\0";
    let text = "gr\u{fc}n\n\u{1b}[1mbold\n".as_bytes();
    [&png[..], jpeg, lossy, lossless, extended, gif, text].map(<[u8]>::to_vec).to_vec()
}

/// Words that are or look like mentions.
fn message() -> impl Strategy<Value = String> {
    let pieces = vec![
        "@",
        "@",
        "@\"",
        "\"",
        "src",
        "/",
        "main.rs",
        "my notes.md",
        "..",
        "out",
        "secret",
        "\\",
        ":",
        "1-2",
        "9-1",
        "0",
        "4294967296",
        " ",
        "\n",
        "\0",
        "é",
        ",",
    ];
    vec(select(pieces), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn any_bytes_are_a_picture_a_text_or_refused(bytes in liminal_hostile::file(files())) {
        match Header::read(&bytes) {
            None => {}
            Some(Header { kind: Kind::Text, size }) => {
                prop_assert_eq!(size, None);
                prop_assert!(std::str::from_utf8(&bytes).is_ok());
            }
            Some(Header { kind, size }) => {
                prop_assert!(size.is_some_and(|(width, height)| width > 0 && height > 0));
                prop_assert_eq!(Kind::of_name(&name(kind, &bytes)), Some(kind));
            }
        }
    }

    #[test]
    fn a_message_may_mention_anything(text in message()) {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        for file in ["src/main.rs", "my notes.md", "../secret"] {
            std::fs::write(workspace.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(home.path().join("secret"), workspace.join("out")).unwrap();
        for mention in mentions(&text, &workspace) {
            let found = within(&mention.path, &workspace);
            prop_assert!(found.is_some_and(|found| found.starts_with(&workspace)), "{mention:?}");
            prop_assert!(mention.lines.is_none_or(|(first, last)| 1 <= first && first <= last));
        }
    }
}
