/** An agent's counters: one reader for samples to the coordinator and for Prometheus, and one for its purges. */
import type { Logger } from 'pino'
import {
  isBackendFailure,
  narrowReading,
  selectCounters,
  type CounterSelection,
} from './counter-selection.js'
import { purgeCounter } from '../invalidate/purge-outcome.js'
import type { WatchOrder } from '../../messages/coordinator-to-agent.js'
import type { SavedState } from '../apply/saved-state.js'
import { GroupObserver } from '../observe/group-observer.js'
import type { AgentConfig } from '../agent-config.js'
import type { CoordinatorLink } from '../link/coordinator-link.js'
import { createCounterReader, type CounterReader } from './counter-reader.js'
import { startMetricsListener } from './metrics-listener.js'
import type { Listener } from '../host/open-listener.js'
import { CounterSampler, type SampledFigures } from './sampler.js'
import { createSimulatedCounters } from './simulated-counters.js'

interface AgentCountersOptions {
  readonly config: Pick<
    AgentConfig,
    'name' | 'engine' | 'http' | 'furtherCounters' | 'metricsListen'
  >
  readonly link: Pick<CoordinatorLink, 'send' | 'isLive'>
  /** Pid of the cache's manager, if known. */
  readonly cachePid: () => number | null
  /** The cache's product name; empty until it was reached. */
  readonly product: () => string
  readonly figures: SampledFigures
  readonly state: Pick<SavedState, 'record'>
  readonly log: Logger
}

export class AgentCounters {
  /** Reads only that counter, because it is read around each purge; simulated caches do not have it. */
  readonly purges: CounterReader
  readonly #options: AgentCountersOptions
  readonly #reader: CounterReader
  readonly #isReported: CounterSelection
  readonly #sampler: CounterSampler
  readonly #observer: GroupObserver
  #listener: Listener | null = null

  /** Throws FleetError 'invalid' for an impossible counter name. */
  constructor(options: AgentCountersOptions) {
    const { link } = options
    this.#options = options
    const isSelected = selectCounters(options.config.furtherCounters)
    const isSimulated = options.config.engine.mode === 'simulated'
    this.#isReported = isSimulated ? () => true : isSelected
    this.#reader = createReader(options, (name) => isSelected(name) || isBackendFailure(name))
    this.purges = createReader(options, (name) => name === purgeCounter)
    this.#observer = new GroupObserver({
      ...options,
      reader: this.#reader,
      readDesired: () => options.state.record.desired,
      http: options.config.http,
      send: (observed) => link.send(observed),
    })
    this.#sampler = new CounterSampler({
      onReading: (now) => {
        this.#observer.note(now)
      },
      reader: this.#reader,
      isReported: this.#isReported,
      send: (samples) => link.send(samples),
      isLinked: () => link.isLive,
      figures: options.figures,
      log: options.log,
    })
  }

  /** Rejects when it cannot listen on the address for Prometheus. */
  async listen(): Promise<void> {
    const { config, log } = this.#options
    const { metricsListen: listen } = config
    if (listen === null) return
    const reader: CounterReader = {
      read: async () => {
        const reading = await this.#reader.read()
        return reading && narrowReading(reading, this.#isReported)
      },
    }
    this.#listener = await startMetricsListener({ listen, reader, log })
  }

  /** Called with each welcome. */
  sample(intervalMs: number | undefined, takesFigures: boolean): void {
    this.#sampler.start(intervalMs, takesFigures)
  }

  /** Takes a live subscription, or an order to observe a group during its rollout. */
  take(order: Exclude<WatchOrder, { readonly kind: 'log' }>): void {
    if (order.kind === 'observe') this.#observer.take(order)
    else this.#sampler.watch(order.forMs)
  }

  async stop(): Promise<void> {
    await this.#observer.stop()
    await this.#sampler.stop()
    await this.#listener?.close()
  }
}

function createReader(
  { config, cachePid, product, log }: AgentCountersOptions,
  isWanted: CounterSelection,
): CounterReader {
  const { engine, name } = config
  if (engine.mode === 'simulated') return createSimulatedCounters(name, performance.now())
  const { workingDirectory } = engine
  return createCounterReader({ workingDirectory, cachePid, product, isWanted, log })
}
