/**
 * Reports sick backends to the coordinator: the whole list when something in it changed, and on each new link. The list is read with
 * each check of the cache (watch-engine.ts): one more command, or one per VCL if the answer exceeds the cache's
 * `cli_limit`.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { newTraceId, type Context } from '../../context.js'
import type { AgentToCoordinator } from '../../messages/agent-to-coordinator.js'
import type { ServedVcl } from '../../messages/backend-health.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import { errorText, type Engine } from '../engine/engine.js'
import type { Unsent } from '../link/coordinator-link.js'
import { listBackends } from './list-backends.js'
import { describeServed } from './served-backends.js'

type BackendReport = Unsent<Extract<AgentToCoordinator, { readonly kind: 'backends' }>>

export class BackendReports {
  readonly #engine: Engine
  /** Returns false when there is no link. */
  readonly #send: (report: BackendReport) => boolean
  /** Null: the cache was not asked yet. */
  #newest: readonly ServedVcl[] | null = null
  /** The list as sent on this link; null: not sent yet. */
  #sent: string | null = null

  constructor(engine: Engine, send: (report: BackendReport) => boolean) {
    this.#engine = engine
    this.#send = send
  }

  /** Never rejects: if a cache does not list its backends, the last known list is kept, and its other answers decide its state. */
  async check(context: Context, { vcls }: EngineInventory): Promise<void> {
    try {
      this.#newest = describeServed(vcls, await listBackends(this.#engine, context))
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      context.log.debug({ why: errorText(error) }, 'the backends could not be listed')
      return
    }
    this.#report(context.traceId)
  }

  /** Called after a welcome, and when messages were lost. */
  sendAgain(): void {
    this.#sent = null
    this.#report(newTraceId())
  }

  #report(traceId: string): void {
    if (this.#newest === null) return
    const text = JSON.stringify(this.#newest)
    if (text === this.#sent) return
    if (this.#send({ kind: 'backends', traceId, vcls: this.#newest })) this.#sent = text
  }
}
