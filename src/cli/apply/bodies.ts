/** Converts names to the ids that the API takes, of existing objects and of objects that this run created. */
import {
  keyOf,
  type ApplyFields,
  type ApplyKind,
  type PresentObject,
  type WantedObject,
} from './apply-objects.js'
import type { Fields } from '../api-shapes.js'
import type { Source } from '../given-text.js'
import { mapReferences, readPlainFields } from './plain-fields.js'

export class Ids {
  private readonly byKey = new Map<string, number>()

  constructor(
    present: readonly PresentObject[],
    private readonly sharedTags: ReadonlyMap<string, number>,
  ) {
    for (const { kind, name, id } of present) this.add(kind, name, id)
  }

  add(kind: ApplyKind, name: string, id: number): void {
    this.byKey.set(keyOf({ kind, name }), id)
  }

  /** Undefined: the object does not exist yet. */
  find(kind: ApplyKind, name: string): number | undefined {
    const own = this.byKey.get(keyOf({ kind, name }))
    return own ?? (kind === 'tag' ? this.sharedTags.get(name) : undefined)
  }

  /** Throws for an unknown name; the plan has already checked every reference. */
  require(kind: ApplyKind, name: string): number {
    const id = this.find(kind, name)
    if (id === undefined) throw new Error(`${kind} ${JSON.stringify(name)} has no id`)
    return id
  }
}

/** The folder's and the coordinator's objects, by `keyOf`. */
export interface Sides {
  readonly wanted: ReadonlyMap<string, WantedObject>
  readonly present: ReadonlyMap<string, PresentObject>
  /** The folder's files, by name. */
  readonly sources: ReadonlyMap<string, Source>
  readonly ids: Ids
}

/** The request body without the name. `source`: for a file whose content is sent. */
export function toBody(
  { kind, fields }: { readonly kind: ApplyKind; readonly fields: ApplyFields },
  ids: Ids,
  source: Source | undefined,
): Fields {
  const written = {
    ...readPlainFields(kind, (field) => fields[field]),
    ...mapReferences(kind, (field, of) =>
      listOf(fields[field]).map((name) => ({ id: ids.require(of, name) })),
    ),
  }
  if (kind === 'file') return { ...source, ...written, fileType: fields['fileType'] }
  if (kind !== 'vclgroup') return written
  const id = ids.require('file', String(fields['mainVCL']))
  const version = fields['mainVersion']
  return { ...written, mainVCL: version === null ? { id } : { id, version } }
}

export function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
