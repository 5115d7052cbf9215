//! What tests know about the kernels beside what the program does: how the shader compiler lays things out, and
//! which kernels were given their variables.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Mutex,
};

use naga::{AddressSpace, Handle, Type, TypeInner};

use crate::Layout;

/// Stride of every bound array of a shader, by binding.
pub fn strides(source: &str) -> HashMap<u32, usize> {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    let bound = module.global_variables.iter().filter_map(|(_, v)| Some((v.binding.as_ref()?.binding, v.ty)));
    bound
        .filter_map(|(binding, ty)| match module.types[ty].inner {
            TypeInner::Array { stride, .. } => Some((binding, stride as usize)),
            _ => None,
        })
        .collect()
}

static BOUND: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// A kernel was given all its variables.
pub(super) fn note_bound(label: &'static str) {
    BOUND.lock().unwrap().insert(label);
}

/// Kernels that were.
pub fn bound() -> BTreeSet<&'static str> {
    BOUND.lock().unwrap().clone()
}

/// The structs that a module shares with the host, by name: those of its buffers and uniforms, and whatever is in them.
fn shared_structs(module: &naga::Module) -> Vec<(String, Handle<Type>)> {
    let mut found = Vec::new();
    let mut left: Vec<_> = module
        .global_variables
        .iter()
        .filter(|(_, v)| matches!(v.space, AddressSpace::Uniform | AddressSpace::Storage { .. }))
        .map(|(_, v)| v.ty)
        .collect();
    while let Some(ty) = left.pop() {
        match &module.types[ty].inner {
            TypeInner::Array { base, .. } => left.push(*base),
            TypeInner::Struct { members, .. } => {
                found.push((module.types[ty].name.clone().unwrap_or_default(), ty));
                left.extend(members.iter().map(|member| member.ty));
            }
            _ => {}
        }
    }
    found
}

/// The first thing in which the structs that a shader shares with the host differ from what Rust says of them.
pub fn difference(source: &str, known: &[Layout]) -> Option<String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source));
    let module = match module {
        Ok(module) => module,
        Err(error) => return Some(error),
    };
    shared_structs(&module).into_iter().find_map(|(name, ty)| {
        let Some(layout) = known.iter().find(|layout| layout.name == name) else {
            return Some(format!("{name} has no layout in Rust"));
        };
        differs(&module, ty, layout).map(|what| format!("{name}: {what}"))
    })
}

fn differs(module: &naga::Module, ty: Handle<Type>, layout: &Layout) -> Option<String> {
    let TypeInner::Struct { members, span } = &module.types[ty].inner else {
        return Some("no struct".into());
    };
    if *span as usize != layout.size {
        return Some(format!("{span} bytes, {} in Rust", layout.size));
    }
    if layout.fields.is_empty() {
        return None;
    }
    let is_pad = |name: &str| name.starts_with("pad");
    let sizes = |member: &naga::StructMember| module.types[member.ty].inner.size(module.to_ctx()) as usize;
    let mut left = members.iter().filter(|member| !is_pad(member.name.as_deref().unwrap_or_default()));
    for field in layout.fields.iter().filter(|field| !is_pad(field.name)) {
        let mut at = field.offset;
        for part in field.parts {
            let Some(member) = left.next() else { return Some(format!("there is no {part}")) };
            let (name, offset) = (member.name.as_deref().unwrap_or_default(), member.offset as usize);
            if (name, offset) != (*part, at) {
                return Some(format!("{name} at {offset} where Rust has {part} at {at}"));
            }
            at += sizes(member);
        }
        if at != field.offset + field.size {
            return Some(format!("{} has {} bytes, {} in Rust", field.name, at - field.offset, field.size));
        }
    }
    left.next().map(|member| format!("{} is not in Rust", member.name.as_deref().unwrap_or_default()))
}
