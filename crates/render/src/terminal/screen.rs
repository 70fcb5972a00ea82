//! Turns terminal output into lines of styled cells. Follows colours and styles, carriage return, backspace, tab, and
//! the sequences that progress lines use; drops all others. The cursor never moves between lines.

/// The widest line that overwriting can reach, so that a hostile column number costs no memory.
const WIDEST: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub character: char,
    pub style: Style,
}

/// Colours are indices in the palette of 256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub front: Option<u8>,
    pub back: Option<u8>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
    pub strike: bool,
}

/// Passes on each line in its final state. Output that ends with a line feed has no empty last line.
pub(crate) fn each_line(output: &str, mut take: impl FnMut(&[Cell])) {
    let mut screen = Screen { cells: Vec::new(), column: 0, style: Style::default() };
    let mut rest = output.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                take(&screen.cells);
                screen.cells.clear();
                screen.column = 0;
            }
            '\r' => screen.column = 0,
            '\u{8}' => screen.column = screen.column.saturating_sub(1),
            '\u{1B}' => escape(&mut rest, &mut screen),
            '\u{9B}' => control(&mut rest, &mut screen),
            '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => skip_string(&mut rest),
            '\t' => screen.put('\t'),
            c if c.is_control() => {}
            c => screen.put(c),
        }
    }
    if !screen.cells.is_empty() {
        take(&screen.cells);
    }
}

struct Screen {
    cells: Vec<Cell>,
    column: usize,
    style: Style,
}

impl Screen {
    fn put(&mut self, character: char) {
        let cell = Cell { character, style: self.style };
        match self.cells.get_mut(self.column) {
            Some(place) => *place = cell,
            None => {
                self.pad();
                self.cells.push(cell);
            }
        }
        self.column += 1;
    }

    fn pad(&mut self) {
        let blank = Cell { character: ' ', style: Style::default() };
        if self.cells.len() < self.column {
            self.cells.resize(self.column, blank);
        }
    }

    fn erase(&mut self, what: u16) {
        match what {
            0 => self.cells.truncate(self.column),
            1 => {
                let end = self.column.saturating_add(1).min(self.cells.len());
                self.cells[..end].fill(Cell { character: ' ', style: Style::default() });
            }
            _ => self.cells.clear(),
        }
    }
}

fn escape(rest: &mut std::str::Chars<'_>, screen: &mut Screen) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            control(rest, screen);
        }
        // Strings: window titles, links, images. All of it is dropped.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            skip_string(rest);
        }
        // Character sets and the like: intermediates, then one final character.
        Some(' '..='/') => {
            *rest = ahead;
            for c in rest.by_ref() {
                if !(' '..='/').contains(&c) {
                    break;
                }
            }
        }
        Some('0'..='~') => *rest = ahead,
        // Not a sequence: only the ESC is dropped.
        Some(_) | None => {}
    }
}

#[derive(Clone, Copy, Default)]
struct Parameter {
    value: u16,
    /// It follows a colon, so it belongs to the previous one.
    is_sub: bool,
}

/// A control sequence: parameters up to a final character.
fn control(rest: &mut std::str::Chars<'_>, screen: &mut Screen) {
    let mut parameters = vec![Parameter::default()];
    let mut private = false;
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            Some(digit @ '0'..='9') => {
                if let Some(last) = parameters.last_mut() {
                    let digit = digit as u16 - '0' as u16;
                    last.value = last.value.saturating_mul(10).saturating_add(digit);
                }
            }
            Some(mark @ (';' | ':')) => {
                if parameters.len() < 64 {
                    parameters.push(Parameter { value: 0, is_sub: mark == ':' });
                }
            }
            Some(' '..='?') => private = true,
            Some(end @ '@'..='~') => {
                *rest = ahead;
                if !private {
                    obey(end, &parameters, screen);
                }
                return;
            }
            // A broken sequence ends where something else starts.
            Some(_) | None => return,
        }
        *rest = ahead;
    }
}

fn obey(command: char, parameters: &[Parameter], screen: &mut Screen) {
    let first = parameters.first().copied().unwrap_or_default().value;
    let steps = usize::from(first.max(1));
    match command {
        'm' => restyle(&mut screen.style, parameters),
        'K' => screen.erase(first),
        'G' => screen.column = (steps - 1).min(WIDEST),
        'C' => screen.column = (screen.column + steps).min(WIDEST.max(screen.column)),
        'D' => screen.column = screen.column.saturating_sub(steps),
        _ => {}
    }
}

/// Skips a string that ends with BEL or ST. One that never ends is skipped only up to the end of its line, so that a
/// stray sequence can't hide the rest of the output.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            None | Some('\n') => return,
            Some('\u{7}' | '\u{9C}') => {
                *rest = ahead;
                return;
            }
            Some('\u{1B}') => {
                if ahead.next() == Some('\\') {
                    *rest = ahead;
                }
                return;
            }
            Some(_) => *rest = ahead,
        }
    }
}

fn restyle(style: &mut Style, parameters: &[Parameter]) {
    let mut rest = parameters;
    while let [first, after @ ..] = rest {
        let (subs, after) = after.split_at(after.iter().take_while(|next| next.is_sub).count());
        rest = after;
        match first.value {
            0 => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            // Straight, double, curly: all the same, except none.
            4 => style.underline = subs.first().is_none_or(|kind| kind.value != 0),
            7 => style.inverse = true,
            9 => style.strike = true,
            21 | 22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.inverse = false,
            29 => style.strike = false,
            colour @ 30..=37 => style.front = place(colour - 30),
            38 => style.front = extended(subs, &mut rest).or(style.front),
            39 => style.front = None,
            colour @ 40..=47 => style.back = place(colour - 40),
            48 => style.back = extended(subs, &mut rest).or(style.back),
            49 => style.back = None,
            // The colour of underlines.
            58 => {
                let _is_not_shown = extended(subs, &mut rest);
            }
            colour @ 90..=97 => style.front = place(colour - 90 + 8),
            colour @ 100..=107 => style.back = place(colour - 100 + 8),
            _ => {}
        }
    }
}

/// The colour that follows 38, 48 and 58: `5;n` or `2;r;g;b`. With colons, a colour space may precede the red.
fn extended(subs: &[Parameter], rest: &mut &[Parameter]) -> Option<u8> {
    let from = if subs.is_empty() { *rest } else { subs };
    let (taken, colour) = match from {
        [Parameter { value: 5, .. }, colour, ..] => (2, place(colour.value)),
        [Parameter { value: 2, .. }, rgb @ ..] => {
            let space = usize::from(subs.len() > 4);
            let [red, green, blue, ..] = rgb.get(space..)? else { return None };
            (4, Some(nearest(red.value, green.value, blue.value)))
        }
        _ => (0, None),
    };
    if subs.is_empty() {
        *rest = &rest[taken..];
    }
    colour
}

fn place(colour: u16) -> Option<u8> {
    u8::try_from(colour).ok()
}

/// The nearest of the 256 colours: in the cube of 216, or among the 24 greys.
fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    const STEPS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let wanted = [red, green, blue].map(|part| i32::from(part.min(255)));
    let distance = |colour: [i32; 3]| (0..3).map(|i| (colour[i] - wanted[i]).pow(2)).sum::<i32>();
    let step =
        |part: i32| (0..6).min_by_key(|step| (STEPS[*step] - part).abs()).unwrap_or_default();
    let in_cube = wanted.map(step);
    let cube = distance(in_cube.map(|step| STEPS[step]));
    let level = ((wanted.iter().sum::<i32>() / 3 - 8 + 5) / 10).clamp(0, 23);
    let grey = distance([8 + 10 * level; 3]);
    let place = if grey < cube {
        232 + level
    } else {
        16 + 36 * in_cube[0] as i32 + 6 * in_cube[1] as i32 + in_cube[2] as i32
    };
    u8::try_from(place).unwrap_or(u8::MAX)
}
