/** Finds the view of an address among those that the user may see. */
import { matchRoute, type Parser } from 'wouter-preact'
import { mayRead } from '../session/rights.js'
import { views, type ViewEntry } from '../views.js'

export interface FoundView {
  readonly entry: ViewEntry
  readonly params: Readonly<Record<string, string>>
}

export function listViews(): readonly ViewEntry[] {
  return views.filter(({ needs }) => needs === null || mayRead(needs))
}

/** Null: no view has this path, or the user may not see it. */
export function findView(path: string, parser: Parser): FoundView | null {
  for (const entry of listViews()) {
    const [isFound, params] = matchRoute(parser, entry.path, path)
    if (isFound) return { entry, params: toTexts(params) }
  }
  return null
}

function toTexts(params: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    // Optional parameters that are missing have no value.
    Object.entries(params).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  )
}
