/** Which view an address leads to, of those that the person may see. */
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

/** Null: there is nothing at this path, or not for this person. */
export function findView(path: string, parser: Parser): FoundView | null {
  for (const entry of listViews()) {
    const [isFound, params] = matchRoute(parser, entry.path, path)
    if (isFound) return { entry, params: toTexts(params) }
  }
  return null
}

function toTexts(params: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    // What is optional and left out is there without a value.
    Object.entries(params).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  )
}
