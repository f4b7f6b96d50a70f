//! Rewords the errors of libraries about requests, in terms of fields instead of Rust types.

use crate::extract::excerpt;

/// What is wrong with a field, or with the whole body if there is no path.
pub(crate) fn of_field(path: Option<&str>, message: &str) -> String {
    // The position in the text is less helpful than the path.
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let subject = path.map_or("the body".to_owned(), |path| format!("`{path}`"));
    let wrong = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    // The found value may contain the same words: the last ones are the library's.
    if let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        return format!("{subject} is {}, not {}", value(found), kind(expected));
    }
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return format!("{subject} is a list, not an object");
    }
    of_name(path, message).unwrap_or_else(|| match path {
        Some(path) => format!("`{path}`: {message}"),
        None => message.to_owned(),
    })
}

/// What is wrong with the query parameters.
pub(crate) fn of_query(message: &str) -> String {
    let message = message.strip_prefix("Failed to deserialize query string: ").unwrap_or(message);
    let (field, what) = match message.split_once(": ") {
        Some((field, what)) => (Some(field), what),
        None => (None, message),
    };
    let wrong = match what {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "is not a whole number of at least 0"
        }
        "number too large to fit in target type" => "is too large",
        "invalid float literal" | "cannot parse float from empty string" => "is not a number",
        _ => return of_name(None, what).unwrap_or_else(|| message.to_owned()),
    };
    field.map_or_else(|| format!("a parameter {wrong}"), |field| format!("`{field}` {wrong}"))
}

/// What is wrong with the name of a field.
fn of_name(path: Option<&str>, message: &str) -> Option<String> {
    let quoted = |text: &str| text.split('`').nth(1).map(excerpt);
    if let Some(rest) = message.strip_prefix("missing field ") {
        let name = quoted(rest)?;
        let whole = path.map_or(name.clone(), |path| format!("{path}.{name}"));
        return Some(format!("`{whole}` is missing"));
    }
    if let Some(rest) = message.strip_prefix("duplicate field ") {
        return Some(format!("`{}` is there twice", quoted(rest)?));
    }
    let rest = message.strip_prefix("unknown field ")?;
    // The name may contain the same words: the last ones are the library's.
    let (name, known) = rest.rsplit_once(", expected ").or(rest.rsplit_once(", there are no "))?;
    let known = known.split('`').skip(1).step_by(2);
    let list: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    Some(format!("`{}` is not one of the known names: {}", quoted(name)?, list.join(", ")))
}

/// A value as formatted by `serde`.
fn value(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        _ => match found.split_once([' ']) {
            Some(("integer" | "boolean", quoted)) => quoted.trim_matches('`').to_owned(),
            Some(("floating", quoted)) => quoted.trim_start_matches("point ").trim_matches('`').to_owned(),
            Some(("string", quoted)) => format!("\"{}\"", excerpt(quoted.trim_matches('"'))),
            _ => excerpt(found),
        },
    }
}

/// The type that `serde` expected, in words.
fn kind(expected: &str) -> &str {
    match expected {
        "u64" | "u32" | "u16" | "u8" | "usize" => "a whole number of at least 0",
        "f64" | "f32" => "a number",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    }
}
