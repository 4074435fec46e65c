/** VCL texts by the SHA-256 of their bytes: from the saved state, else from the coordinator, always verified. */
import { createHash } from 'node:crypto'
import { idleVclSource } from '../../vcl/desired-engine.js'
import { idleVclSha } from '../../vcl/plan.js'
import type { SavedState } from './saved-state.js'

export interface Sources {
  /** Rejects when the text is neither here nor available from the coordinator; a fetched text is saved before it is returned. */
  read(sha: string): Promise<string>
}

export function createSources(state: SavedState, fetch: (sha: string) => Promise<string>): Sources {
  return {
    async read(sha) {
      if (sha === idleVclSha) return idleVclSource
      const kept = await state.readSource(sha)
      if (kept !== null) return kept
      const text = await fetch(sha)
      const digest = digestSource(text)
      if (digest !== sha)
        throw new Error(`the coordinator sent a text with SHA-256 ${digest} for ${sha}`)
      await state.writeSource(sha, text)
      return text
    },
  }
}

/** SHA-256 (hex) of the text's UTF-8 bytes: the name of a source everywhere. */
export function digestSource(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
