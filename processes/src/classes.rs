//! Stub.
use crate::tree::*;
#[derive(Debug)]
pub struct Classes {
    schemata: Vec<Schema>,
}
#[derive(Debug)]
pub struct Schema {
    name: String,
    labels: Vec<String>,
    of: Vec<Option<LabelId>>,
}
#[derive(Debug, Clone, Copy)]
pub struct LabelId(pub u32);
impl LabelId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
impl Schema {
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn label(&self, i: ImageId) -> Option<LabelId> {
        self.of[i.index()]
    }
    pub fn labels(&self) -> &[String] {
        &self.labels
    }
}
impl Classes {
    pub fn schemata(&self) -> &[Schema] {
        &self.schemata
    }
    pub fn of(tree: &ProcessTree) -> Self {
        let mut labels = Vec::<String>::new();
        let mut map = std::collections::HashMap::new();
        let mut of = vec![];
        for i in tree.images() {
            let c = tree.command(i).unwrap_or("UNKNOWN").to_owned();
            let id = *map.entry(c.clone()).or_insert_with(|| {
                labels.push(c);
                LabelId(labels.len() as u32 - 1)
            });
            of.push(Some(id));
        }
        Classes { schemata: vec![Schema { name: "program".into(), labels, of }] }
    }
}
