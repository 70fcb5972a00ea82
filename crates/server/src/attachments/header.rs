//! Tells by the first bytes what a file is and how large a picture. Nothing is decoded.

/// What can be attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Png,
    Jpeg,
    Gif,
    Webp,
    /// UTF-8 without control characters other than white space and ESC, with which terminals write colours.
    Text,
}

/// What a file says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    /// Width and height in pixels; `None` for text.
    pub size: Option<(u32, u32)>,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp, Self::Text];

    pub const fn mime_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Text => "txt",
        }
    }

    /// Of a picture.
    pub fn of_mime_type(mime_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind != Self::Text && kind.mime_type() == mime_type)
    }

    /// The kind that a stored name tells. Names become part of paths and URLs, so no others are accepted.
    pub fn of_name(name: &str) -> Option<Self> {
        let (hash, extension) = name.split_once('.')?;
        let is_hash =
            !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        Self::ALL.into_iter().find(|kind| is_hash && kind.extension() == extension)
    }
}

impl Header {
    /// `None` for a file that can't be attached.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let picture = |kind, size: Option<(u32, u32)>| {
            size.filter(|(width, height)| *width > 0 && *height > 0)
                .map(|size| Self { kind, size: Some(size) })
        };
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            picture(Kind::Png, png(bytes))
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            picture(Kind::Jpeg, jpeg(bytes))
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            picture(Kind::Gif, little(bytes, 6).zip(little(bytes, 8)))
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            picture(Kind::Webp, webp(bytes))
        } else {
            is_text(bytes).then_some(Self { kind: Kind::Text, size: None })
        }
    }
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    (bytes.get(12..16) == Some(b"IHDR")).then_some(())?;
    number(16).zip(number(20))
}

/// Steps from segment to segment up to the one with the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        while bytes.get(at) == Some(&0xff) && bytes.get(at + 1) == Some(&0xff) {
            at += 1;
        }
        (*bytes.get(at)? == 0xff).then_some(())?;
        let marker = *bytes.get(at + 1)?;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return big(bytes, at + 7).zip(big(bytes, at + 5));
        }
        let length = big(bytes, at + 2)?;
        (length >= 2 && marker != 0xd9).then_some(())?;
        at += 2 + length as usize;
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26)? & 0x3fff, little(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(bytes, 21)? | little(bytes, 23)? << 16;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let number =
                |at: usize| Some((little(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16) + 1);
            number(24).zip(number(27))
        }
        _ => None,
    }
}

fn little(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(*bytes.get(at)?) | u32::from(*bytes.get(at + 1)?) << 8)
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(*bytes.get(at)?) << 8 | u32::from(*bytes.get(at + 1)?))
}

fn is_text(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    bytes.iter().all(is_plain) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes().iter().chain(&height.to_be_bytes()));
        bytes
    }

    #[test]
    fn a_picture_tells_its_type_and_size_in_its_header() {
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 9, 8, 0, 3, 0, 5, 0];
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x05\x40\x03\x40";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x04\x80\0\0";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x04\0\0\x02\0\0";
        for (bytes, kind) in [
            (&png_of(5, 3)[..], Kind::Png),
            (&jpeg[..], Kind::Jpeg),
            (&b"GIF89a\x05\0\x03\0"[..], Kind::Gif),
            (&lossy[..], Kind::Webp),
            (&lossless[..], Kind::Webp),
            (&extended[..], Kind::Webp),
        ] {
            assert_eq!(Header::read(bytes), Some(Header { kind, size: Some((5, 3)) }), "{kind:?}");
            for end in 3..bytes.len() {
                let cut = Header::read(&bytes[..end]);
                assert!(cut.is_none_or(|cut| cut.size == Some((5, 3)) || cut.size.is_none()));
            }
        }
    }

    #[test]
    fn text_is_what_can_be_read_and_anything_else_is_refused() {
        let text = Some(Header { kind: Kind::Text, size: None });
        assert_eq!(Header::read("é\n\u{1b}[1m".as_bytes()), text);
        for bytes in [&b"a\0b"[..], b"\xff\xfe", b"%PDF-1.7\x01", &png_of(0, 3), b"\xff\xd8\xff"] {
            assert_eq!(Header::read(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn only_names_that_we_made_are_names() {
        assert_eq!(Kind::of_name("0a-12.png"), Some(Kind::Png));
        for name in ["", ".png", "a/b.png", "0a.svg", "..", "../0a.png", "0a.png.new", "0a.PNG"] {
            assert_eq!(Kind::of_name(name), None, "{name}");
        }
    }
}
