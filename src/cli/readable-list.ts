/** A list that adds to what is shown: who may not read it is shown the rest. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { CliError } from './cli-error.js'

const forbidden = 403

/** Null: the caller may not read it. */
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
