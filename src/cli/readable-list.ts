/** Reads a list that only supplements the output, so that callers without permission still see the rest. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { CliError } from './cli-error.js'

const forbidden = 403

/** Returns null if the caller may not read the list. */
export async function readListIfAllowed(
  api: Api,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly Fields[] | null> {
  try {
    return await api.readList(path, query)
  } catch (error) {
    if (error instanceof CliError && error.refusal?.status === forbidden) return null
    throw error
  }
}
