/** Parses a heap snapshot of V8: the kinds of objects and their own sizes. */

export interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[]
      /** Those of the first field are names; the others are not needed. */
      readonly node_types: readonly [readonly string[], ...unknown[]]
    }
  }
  /** One run of `node_fields` per object. */
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}

/** For these the name is the kind; for others, such as texts, it is the content. */
const namedTypes = new Set(['object', 'closure', 'native', 'hidden', 'array', 'object shape'])

/** Compiled code and V8's own roots: they belong to no agent. */
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
