/** What a simulated agent brings itself, or shares with the others of its process. */
import type { SavedState } from './apply/saved-state.js'
import type { CertificateFiles } from './certificates/certificate-files.js'
import type { LinkOptions } from './link/coordinator-link.js'
import type { AgentKey } from './link/key.js'

export interface AgentResources {
  readonly state: SavedState
  readonly key: AgentKey
  /** Folder in which `cachefleetd rollback` leaves its requests. */
  readonly stateDir?: string
  readonly limitDials?: LinkOptions['limitDials']
  /** Wraps the call to the coordinator: a text that many agents want at once is fetched once. */
  readonly fetchOnce?: (sha: string, fetch: () => Promise<string>) => Promise<string>
  readonly certificateFiles?: CertificateFiles
}
