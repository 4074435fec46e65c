/** The series of a row, in order: caches with the same counters share one layout. */
import type { LayoutStore } from './row-store.js'

export interface Layout {
  readonly names: readonly string[]
  readonly columns: ReadonlyMap<string, number>
  /** The id in the store; assigned when a row is written. */
  id: number | null
}

export interface Layouts {
  /** Returns the layout with these names appended; the same object for the same names. */
  extend(layout: Layout, names: readonly string[]): Layout
  of(names: readonly string[]): Layout
  read(id: number): Promise<Layout>
  readId(layout: Layout): Promise<number>
  /** Drops unused layouts from memory; they remain in the store. */
  keepOnly(used: ReadonlySet<Layout>): void
  /** The ids of the layouts in memory that are in the store. */
  listIds(): readonly number[]
}

export const emptyLayout: Layout = { names: [], columns: new Map(), id: null }

export function createLayouts(store: LayoutStore): Layouts {
  const byText = new Map<string, Layout>()
  const byId = new Map<number, Layout>()

  const of = (names: readonly string[]): Layout => {
    const text = JSON.stringify(names)
    const found = byText.get(text)
    if (found) return found
    const columns = new Map(names.map((name, column) => [name, column]))
    const layout: Layout = { names, columns, id: null }
    byText.set(text, layout)
    return layout
  }
  return {
    of,
    extend: (layout, names) => of([...layout.names, ...names]),
    read: async (id) => {
      const found = byId.get(id)
      if (found) return found
      const layout = of(await store.readLayout(id))
      layout.id = id
      byId.set(id, layout)
      return layout
    },
    readId: async (layout) => {
      layout.id ??= await store.addLayout(layout.names)
      byId.set(layout.id, layout)
      return layout.id
    },
    keepOnly: (used) => {
      for (const [text, layout] of byText) if (!used.has(layout)) byText.delete(text)
      for (const [id, layout] of byId) if (!used.has(layout)) byId.delete(id)
    },
    listIds: () => [...byId.keys()],
  }
}
