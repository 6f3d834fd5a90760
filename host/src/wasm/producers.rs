//! Who made a file, by what its tools wrote into it: the custom sections `producers` of it and of all that stands in it.
//!
//! Nothing depends on what is said there, and anyone can write anything. So it is read within bounds and only told; a section
//! that is not as it should be says nothing.

use wasmparser::{BinaryReader, CustomSectionReader, Payload, ProducersField, ProducersSectionReader};

use super::inspection::{MAGIC, PREAMBLE, Section, sections};

/// The custom section, <https://github.com/WebAssembly/tool-conventions/blob/main/ProducersSection.md>.
const SECTION: &str = "producers";
/// What every custom section begins with.
const CUSTOM: u8 = 0;
const LANGUAGE: &str = "language";
const TOOLS: [&str; 2] = ["processed-by", "sdk"];

/// At most so many languages and so many tools are kept, and so many of one section looked at.
const MOST: usize = 16;
/// A name or a version is cut behind so many characters.
const LONGEST: usize = 80;

/// What made a file, as it says itself. Each name stands once, what the whole says of itself before what parts of it say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Producers {
    /// What it was written in: what the whole says, else what its largest module says.
    pub languages: Vec<Producer>,
    /// What its other parts were written in beside that: adapters, the libraries of an interpreter.
    pub languages_inside: Vec<Producer>,
    /// What compiled, linked or generated it.
    pub tools: Vec<Producer>,
}

/// A language or a tool. Both texts are as they stand in the file, apart from their length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Its name.
    pub name: String,
    /// Its version; empty where none is told.
    pub version: String,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    languages: Kept,
    tools: Kept,
    /// The sizes of the parts within each other that are being read, the innermost last.
    within: Vec<usize>,
    largest_module: usize,
}

/// Producers by their rank, the lowest first.
#[derive(Debug, Default)]
struct Kept(Vec<(usize, Producer)>);

/// The rank of a language that the whole names.
const WHOLE: usize = 0;

impl Found {
    /// Takes what a file is made of, piece by piece.
    pub(super) fn take(&mut self, payload: &Payload<'_>) {
        match payload {
            Payload::ModuleSection { unchecked_range, .. } => {
                self.within.push(unchecked_range.len());
                self.largest_module = self.largest_module.max(unchecked_range.len());
            }
            Payload::ComponentSection { unchecked_range, .. } => self.within.push(unchecked_range.len()),
            Payload::End(_) => drop(self.within.pop()),
            Payload::CustomSection(section) if section.name() == SECTION => self.read(section),
            _ => {}
        }
    }

    fn read(&mut self, section: &CustomSectionReader<'_>) {
        // An adapter or a library is smaller than what it serves.
        let of_language = self.within.last().map_or(WHOLE, |size| rank(*size));
        for (field, name, version) in fields(section.data_reader()) {
            let producer = || Producer { name: cut(name), version: cut(version) };
            match field {
                _ if name.trim().is_empty() => {}
                LANGUAGE => self.languages.add(of_language, producer()),
                tool if TOOLS.contains(&tool) => self.tools.add(self.within.len(), producer()),
                _ => {}
            }
        }
    }

    /// All of it.
    pub(super) fn producers(self) -> Producers {
        let first = self.languages.0.first().map(|(rank, _)| *rank);
        let own = if first == Some(WHOLE) { WHOLE } else { rank(self.largest_module) };
        let (languages, inside): (Vec<_>, Vec<_>) = self.languages.0.into_iter().partition(|(rank, _)| *rank <= own);
        let plain = |kept: Vec<(usize, Producer)>| kept.into_iter().map(|(_, producer)| producer).collect();
        Producers { languages: plain(languages), languages_inside: plain(inside), tools: plain(self.tools.0) }
    }
}

/// Of what a part of this size says.
fn rank(size: usize) -> usize {
    usize::MAX - size
}

impl Kept {
    /// The lowest rank has the word about a name; a version that it leaves out is taken from the others.
    fn add(&mut self, rank: usize, mut new: Producer) {
        if let Some(at) = self.0.iter().position(|(_, known)| known.name == new.name) {
            let (known_rank, known) = &mut self.0[at];
            if *known_rank <= rank {
                known.version = or_else(std::mem::take(&mut known.version), new.version);
                return;
            }
            new.version = or_else(new.version, self.0.remove(at).1.version);
        }
        let behind = self.0.partition_point(|(known, _)| *known <= rank);
        self.0.insert(behind, (rank, new));
        self.0.truncate(MOST);
    }
}

fn or_else(version: String, other: String) -> String {
    if version.is_empty() { other } else { version }
}

/// Field, name and version, of the section's contents, up to the first that is wrong.
fn fields(contents: BinaryReader<'_>) -> impl Iterator<Item = (&str, &str, &str)> {
    let fields = ProducersSectionReader::new(contents).ok().into_iter().flatten().map_while(Result::ok).take(MOST);
    fields.flat_map(|field| {
        let values = field.values.into_iter().map_while(Result::ok).take(MOST);
        values.map(move |value| (field.name, value.name, value.version))
    })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The same component or module, which says that it was written in this language; nothing where it names one itself, or is none.
/// What it says of tools stays, what its parts say too, and the bytes come out the same each time.
pub fn naming_language(bytes: &[u8], language: &str) -> Option<Vec<u8>> {
    let mut named = bytes.get(..PREAMBLE).filter(|_| bytes.starts_with(MAGIC))?.to_vec();
    let mut contents = vec![(LANGUAGE, vec![(language, "")])];
    for section in sections(bytes) {
        let section = section?;
        match own(&section) {
            Some(fields) if fields.iter().any(|(field, _)| *field == LANGUAGE) => return None,
            Some(fields) => contents.extend(fields),
            None => named.extend_from_slice(section.whole),
        }
    }
    let mut body = text(SECTION);
    body.extend(list(&contents, |(field, values)| {
        let values = list(values, |(name, version)| [text(name), text(version)].concat());
        [text(field), values].concat()
    }));
    named.push(CUSTOM);
    named.extend(number(body.len()));
    named.extend(body);
    Some(named)
}

/// A field's name, and the names and versions in it.
type Field<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// The fields of a section that is one of these, whole and without fault.
fn own<'a>(section: &Section<'a>) -> Option<Vec<Field<'a>>> {
    if section.id != CUSTOM {
        return None;
    }
    let custom = CustomSectionReader::new(BinaryReader::new(section.contents, 0)).ok()?;
    if custom.name() != SECTION {
        return None;
    }
    let fields = ProducersSectionReader::new(custom.data_reader()).ok()?;
    let field = |field: wasmparser::Result<ProducersField<'a>>| {
        let field = field.ok()?;
        let values = field.values.into_iter().map(|value| value.ok().map(|value| (value.name, value.version)));
        Some((field.name, values.collect::<Option<_>>()?))
    };
    fields.into_iter().map(field).collect()
}

fn list<T>(items: &[T], encode: impl Fn(&T) -> Vec<u8>) -> Vec<u8> {
    [number(items.len())].into_iter().chain(items.iter().map(encode)).flatten().collect()
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = number(text.len());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// In LEB128.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::super::inspect;
    use super::*;

    const MODULE: &[u8] = b"\0asm\x01\0\0\0";
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    /// A section of this kind.
    fn section(id: u8, body: &[u8]) -> Vec<u8> {
        [&[id][..], &number(body.len()), body].concat()
    }

    fn custom(name: &str, body: &[u8]) -> Vec<u8> {
        section(CUSTOM, &[&text(name), body].concat())
    }

    fn said(fields: &[(&str, &[(&str, &str)])]) -> Vec<u8> {
        let values = |values: &&[(&str, &str)]| list(values, |(name, version)| [text(name), text(version)].concat());
        custom(SECTION, &list(fields, |(field, some)| [text(field), values(some)].concat()))
    }

    fn file(preamble: &[u8], sections: &[Vec<u8>]) -> Vec<u8> {
        [preamble, &sections.concat()].concat()
    }

    /// As a part of a component.
    fn part(file: &[u8]) -> Vec<u8> {
        section(if file.starts_with(MODULE) { 1 } else { 4 }, file)
    }

    fn of(bytes: &[u8]) -> Producers {
        inspect(bytes).unwrap().producers
    }

    fn names(producers: &[Producer]) -> String {
        let all = producers.iter().map(|one| format!("{} {}", one.name, one.version).trim().to_owned());
        all.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_the_whole_says_comes_before_what_its_parts_say() {
        let engine = file(MODULE, &[said(&[("language", &[("C11", "")]), ("processed-by", &[("clang", "22.1")])])]);
        let inner = file(COMPONENT, &[part(&engine), said(&[("processed-by", &[("linker", "1"), ("maker", "1")])])]);
        let outer = [said(&[("language", &[("JavaScript", "")])]), said(&[("processed-by", &[("maker", "2")])])];
        let whole = file(COMPONENT, &[vec![part(&inner)], outer.to_vec()].concat());
        let found = of(&whole);
        assert_eq!((names(&found.languages), names(&found.languages_inside)), ("JavaScript".into(), "C11".into()));
        assert_eq!(names(&found.tools), "maker 2, linker 1, clang 22.1");
    }

    #[test]
    fn an_adapter_does_not_speak_for_what_it_serves() {
        let adapter = part(&file(MODULE, &[said(&[("language", &[("Rust", "")])])]));
        let interpreter = part(&file(MODULE, &[custom("code", &[0; 100])]));
        let found = of(&file(COMPONENT, &[adapter.clone(), interpreter.clone()]));
        assert_eq!((names(&found.languages), names(&found.languages_inside)), (String::new(), "Rust".into()));
        let inner = part(&file(COMPONENT, &[interpreter, said(&[("language", &[("JavaScript", "")])])]));
        let found = of(&file(COMPONENT, &[inner, adapter.clone()]));
        assert_eq!((names(&found.languages), names(&found.languages_inside)), ("JavaScript".into(), "Rust".into()));
        let found = of(&file(COMPONENT, &[adapter, part(MODULE)]));
        assert_eq!(names(&found.languages), "Rust", "the largest module is what the file is about");
    }

    #[test]
    fn a_version_that_the_whole_leaves_out_is_that_of_a_part() {
        let module = file(MODULE, &[said(&[("language", &[("Go", "go1.27")])])]);
        let whole = file(COMPONENT, &[part(&module), said(&[("language", &[("Go", "")])])]);
        assert_eq!(names(&of(&whole).languages), "Go go1.27");
        assert_eq!(of(&whole).languages_inside, []);
    }

    #[test]
    fn what_is_no_such_section_or_a_broken_one_says_nothing_and_costs_nothing() {
        let cut_short = &list(&[("language", "C")], |(field, name)| [text(field), number(9), text(name)].concat())[..];
        for body in [&b""[..], b"\xff", b"\xff\xff\xff\xff\x0f", b"\x01\x08lang", b"\x01\x01\xff\0", cut_short] {
            assert_eq!(of(&file(MODULE, &[custom(SECTION, body)])), Producers::default(), "{body:?}");
        }
        let others =
            [custom("producer", b"\x01"), said(&[("author", &[("me", "1")])]), said(&[("language", &[(" ", "1")])])];
        assert_eq!(of(&file(MODULE, &others)), Producers::default());
        let endless = said(&[("language", &[(&*"x".repeat(1 << 20), "")])]);
        assert_eq!(of(&file(MODULE, &[endless])), Producers::default(), "longer than any text in a module");
        let after = [custom(SECTION, b"\xff"), said(&[("language", &[("C", "")])])];
        assert_eq!(names(&of(&file(MODULE, &after)).languages), "C");
    }

    #[test]
    fn megabytes_of_names_are_a_few_short_ones() {
        let long = "ä".repeat(40_000);
        let many: Vec<_> = (0..100_000).map(|n| format!("tool {n}")).collect();
        let many: Vec<_> = many
            .iter()
            .map(|name| (name.as_str(), &*long))
            .take(1)
            .chain(many.iter().map(|name| (&**name, "")))
            .collect();
        let one = said(&[("language", &[(&long, &long)]), ("processed-by", &many)]);
        let each: Vec<_> = (0..1000).map(|n| said(&[("sdk", &[(&*format!("sdk {n}"), "")])])).collect();
        let found = of(&file(MODULE, &[vec![one], each].concat()));
        assert_eq!((found.languages.len(), found.tools.len()), (1, MOST));
        let all = found.languages.iter().chain(&found.tools).flat_map(|one| [&one.name, &one.version]);
        assert!(all.clone().all(|text| text.chars().count() <= LONGEST + 1), "{all:?}");
    }

    #[test]
    fn parts_do_not_push_out_what_the_whole_says() {
        let parts: Vec<_> =
            (0..50).map(|n| part(&file(MODULE, &[said(&[("language", &[(&*n.to_string(), "")])])]))).collect();
        let whole = file(COMPONENT, &[parts, vec![said(&[("language", &[("C", "")])])]].concat());
        assert_eq!(names(&of(&whole).languages), "C");
        assert_eq!(of(&whole).languages_inside.len(), MOST - 1);
    }

    #[test]
    fn a_language_is_written_beside_what_is_said_already_and_but_once() {
        let before =
            file(COMPONENT, &[part(MODULE), said(&[("processed-by", &[("maker", "2")])]), custom("last", b"x")]);
        let named = naming_language(&before, "C++").unwrap();
        let [was, is] = [of(&before), of(&named)];
        assert_eq!((names(&is.languages), &is.tools), ("C++".into(), &was.tools));
        assert!(named.len() - before.len() < 20);
        let sections: Vec<_> = sections(&named).map(|section| section.unwrap()).collect();
        assert_eq!(sections.iter().filter(|section| own(section).is_some()).count(), 1);
        assert!(sections.iter().any(|section| section.contents.ends_with(b"lastx")), "nothing else is lost");
        assert_eq!(naming_language(&named, "C"), None);
        assert_eq!(naming_language(&before, "C++").unwrap(), named);
    }

    #[test]
    fn what_is_broken_is_left_as_it_is() {
        assert_eq!(naming_language(b"\0asm", "C"), None);
        assert_eq!(naming_language(&file(MODULE, &[vec![CUSTOM, 9, 1]]), "C"), None);
        let broken = file(MODULE, &[custom(SECTION, b"\xff")]);
        assert!(naming_language(&broken, "C").unwrap().starts_with(&broken));
    }
}
