/** Reads a heap snapshot of V8: which kinds of things there are, and what they take of their own. */

export interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[]
      /** The first field's are names; the others' are not needed. */
      readonly node_types: readonly [readonly string[], ...unknown[]]
    }
  }
  /** One run of `node_fields` for each thing. */
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}

/** Of these the name says what they are; of others, such as texts, it is what they hold. */
const namedTypes = new Set(['object', 'closure', 'native', 'hidden', 'array', 'object shape'])

/** What is compiled, and the roots of V8's own: no agent has any. */
const sharedTypes = new Set(['code', 'synthetic'])

/** Bytes by kind. */
export function listKinds({ snapshot, nodes, strings }: HeapSnapshot): ReadonlyMap<string, number> {
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((name) => fields.indexOf(name))
  const kinds = new Map<string, number>()
  for (let at = 0; at < nodes.length; at += fields.length) {
    const read = (field: number | undefined): number => nodes[at + (field ?? 0)] ?? 0
    const type = types[0][read(typeAt)] ?? ''
    if (sharedTypes.has(type)) continue
    const kind = namedTypes.has(type) ? `${type} ${strings[read(nameAt)] ?? ''}`.trim() : type
    kinds.set(kind, (kinds.get(kind) ?? 0) + read(sizeAt))
  }
  return kinds
}
