//! Whatever a Claude Code session file contains, it is read to the end, with the same result each time.

use liminal_hostile::Conversation;
use proptest::prelude::*;

use super::*;

fn files() -> Vec<String> {
    let folder = format!("{}/fixtures/claude/files", env!("CARGO_MANIFEST_DIR"));
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect()
}

fn tell(reader: &Reader, what: &History) -> Vec<Output> {
    let mut said = Vec::new();
    let mut say = |output, _| said.push(output);
    reader.tell(what, &mut say).unwrap().end(&mut say);
    said
}

/// Every turn that begins also ends.
fn check(reader: &Reader, said: &[Output]) {
    let mut conversation = Conversation::new(reader.session.clone());
    for output in said {
        match output {
            Output::Event(event) => conversation.hear(event.clone()),
            Output::HistoryReplaced => {
                std::mem::replace(&mut conversation, Conversation::new(reader.session.clone()))
                    .end();
            }
            _ => {}
        }
    }
    conversation.end();
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn a_session_file_may_hold_anything(
        before in liminal_hostile::lines(files()),
        after in liminal_hostile::lines(files()),
        ends in any::<bool>(),
    ) {
        let home = tempfile::tempdir().unwrap();
        let reader = Reader {
            session: SessionId::parse("claude-code:s").unwrap(),
            project: PathBuf::from("/home/user/demo"),
            path: home.path().join("s.jsonl"),
        };
        let mut text = before.join(&b'\n');
        if ends {
            text.push(b'\n');
        }
        fs::write(&reader.path, &text).unwrap();
        let said = tell(&reader, &History::All);
        check(&reader, &said);
        let mark = reader.mark().unwrap();

        text.extend(after.join(&b'\n'));
        fs::write(&reader.path, &text).unwrap();
        if let Some(mark) = mark {
            let added = tell(&reader, &History::After { mark: mark.clone(), known: Vec::new() });
            check(&reader, &added);
            fs::write(&reader.path, before.concat()).unwrap();
            check(&reader, &tell(&reader, &History::After { mark, known: Vec::new() }));
        }
    }
}
