use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;

use super::mend;

fn mended(json: &str) -> String {
    let mut bytes = json.as_bytes().to_vec();
    mend(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn each_half_is_replaced_and_nothing_else() {
    let cases = [
        // Halves.
        (r#""\ud83c""#, r#""\ufffd""#),
        (r#""\udf89""#, r#""\ufffd""#),
        (r#""a\ud83cb\udf89c""#, r#""a\ufffdb\ufffdc""#),
        (r#""\ud83c\ud83c""#, r#""\ufffd\ufffd""#),
        (r#""\udf89\ud83c""#, r#""\ufffd\ufffd""#),
        // The first and the last of each kind, in either case.
        (r#""\ud800\udbff\uD800\uDBFF\uDaBb""#, r#""\ufffd\ufffd\ufffd\ufffd\ufffd""#),
        (r#""\udc00 \udfff \uDC00 \uDFFF \uDcFf""#, r#""\ufffd \ufffd \ufffd \ufffd \ufffd""#),
        // Whole characters.
        (r#""\ud83c\udf89""#, r#""\ud83c\udf89""#),
        (r#""\uD83C\uDF89\ud83C\uDf89""#, r#""\uD83C\uDF89\ud83C\uDf89""#),
        (r#""\ud7ff\ue000\u00d8\ufffd\u0041""#, r#""\ud7ff\ue000\u00d8\ufffd\u0041""#),
        (r#""🎉 \n é""#, r#""🎉 \n é""#),
        // Both.
        (r#""\ud83c\ud83c\udf89""#, r#""\ufffd\ud83c\udf89""#),
        (r#""\ud83c\udf89\udf89""#, r#""\ud83c\udf89\ufffd""#),
        (r#""\ud83c \udf89""#, r#""\ufffd \ufffd""#),
        (r#""\ud83c\u0041\udf89""#, r#""\ufffd\u0041\ufffd""#),
        // Backslashes that are text.
        (r#""\\ud83c""#, r#""\\ud83c""#),
        (r#""\\\ud83c""#, r#""\\\ufffd""#),
        (r#""\\\\ud83c""#, r#""\\\\ud83c""#),
        (r#""\ud83c\\udf89""#, r#""\ufffd\\udf89""#),
        (r#""\\ud83c\udf89""#, r#""\\ud83c\ufffd""#),
        (r#""\n\ud83c\"\udf89""#, r#""\n\ufffd\"\ufffd""#),
        // Names of fields too.
        (r#"{"\ud83c":["\udf89",1]}"#, r#"{"\ufffd":["\ufffd",1]}"#),
        // Escapes that are not whole, and the end of the text.
        (r"\ud83c", r"\ufffd"),
        (r"\ud83c\", r"\ufffd\"),
        (r"\ud83c\u", r"\ufffd\u"),
        (r"\ud83c\udf8", r"\ufffd\udf8"),
        (r"\ud83", r"\ud83"),
        (r"\ud8", r"\ud8"),
        (r"\u", r"\u"),
        (r"\", r"\"),
        ("", ""),
        (r#""\ud83""#, r#""\ud83""#),
        (r#""\ud83g\ud8g3\uD""#, r#""\ud83g\ud8g3\uD""#),
        (r#""\Ud83c\xd83c""#, r#""\Ud83c\xd83c""#),
    ];
    for (json, expected) in cases {
        assert_eq!(mended(json), expected, "{json}");
    }
}

#[test]
fn a_line_of_nothing_but_escapes_or_backslashes_takes_no_time() {
    let mut json = br"\ud83c".repeat(1 << 20);
    mend(&mut json);
    assert_eq!(json, br"\ufffd".repeat(1 << 20));
    let mut json = [br"\".repeat(8 << 20), br"ud83c".to_vec()].concat();
    let before = json.clone();
    mend(&mut json);
    assert!(json == before);
}

/// A piece of a JSON string, and the UTF-16 that it stands for.
fn piece() -> impl Strategy<Value = (String, Vec<u16>)> {
    let escape = |unit: u16, upper: bool| {
        let text = if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
        (text, vec![unit])
    };
    let plain = |text: &str, means: &str| (text.to_owned(), means.encode_utf16().collect());
    prop_oneof![
        6 => (0xD800..=0xDFFF_u16, any::<bool>()).prop_map(move |(unit, upper)| escape(unit, upper)),
        2 => (any::<u16>(), any::<bool>()).prop_map(move |(unit, upper)| escape(unit, upper)),
        2 => Just(plain(r"\\", r"\")),
        1 => Just(plain(r"\\u", r"\u")),
        1 => Just(plain(r"\n", "\n")),
        1 => Just(plain("ud83c", "ud83c")),
        1 => Just(plain("🎉", "🎉")),
    ]
}

proptest! {
    #![proptest_config(liminal_hostile::cases(2000))]

    #[test]
    fn any_escapes_read_as_utf_16_does(pieces in vec(piece(), 0..12)) {
        let mut json = String::from('"');
        for (text, _) in &pieces {
            write!(json, "{text}").unwrap();
        }
        json.push('"');
        let units: Vec<u16> = pieces.into_iter().flat_map(|(_, units)| units).collect();
        let read = serde_json::from_str::<String>(&mended(&json));
        prop_assert_eq!(read.unwrap(), String::from_utf16_lossy(&units));
        if serde_json::from_str::<String>(&json).is_ok() {
            prop_assert_eq!(mended(&json), json);
        }
    }

    #[test]
    fn any_bytes_keep_their_length(pieces in vec(prop_oneof![
        Just(br"\ud83c".to_vec()), Just(br"\u".to_vec()), Just(br"\".to_vec()), vec(any::<u8>(), 0..4),
    ], 0..12)) {
        let bytes = pieces.concat();
        let mut mended = bytes.clone();
        mend(&mut mended);
        prop_assert_eq!(mended.len(), bytes.len());
        // Twice is once.
        let once = mended.clone();
        mend(&mut mended);
        prop_assert_eq!(mended, once);
    }
}
