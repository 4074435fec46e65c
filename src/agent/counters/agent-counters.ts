/** An agent's counters: one reader of the cache, for samples to the coordinator and for Prometheus, and one of its purges. */
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
  /** Of the cache's manager, where it is known. */
  readonly cachePid: () => number | null
  /** As the cache calls itself; empty until it was reached. */
  readonly product: () => string
  readonly figures: SampledFigures
  readonly state: Pick<SavedState, 'record'>
  readonly log: Logger
}

export class AgentCounters {
  /** Of that counter alone, for it is read around each purge; of a simulated cache it is not known. */
  readonly purges: CounterReader
  readonly #options: AgentCountersOptions
  readonly #reader: CounterReader
  readonly #isTold: CounterSelection
  readonly #sampler: CounterSampler
  readonly #observer: GroupObserver
  #listener: Listener | null = null

  /** Throws FleetError 'invalid' for a counter that none can be. */
  constructor(options: AgentCountersOptions) {
    const { link } = options
    this.#options = options
    const isSelected = selectCounters(options.config.furtherCounters)
    const isSimulated = options.config.engine.mode === 'simulated'
    this.#isTold = isSimulated ? () => true : isSelected
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
      isTold: this.#isTold,
      send: (samples) => link.send(samples),
      isLinked: () => link.isLive,
      figures: options.figures,
      log: options.log,
    })
  }

  /** Rejects when the address for Prometheus cannot be listened on. */
  async listen(): Promise<void> {
    const { config, log } = this.#options
    const { metricsListen: listen } = config
    if (listen === null) return
    const reader: CounterReader = {
      read: async () => {
        const reading = await this.#reader.read()
        return reading && narrowReading(reading, this.#isTold)
      },
    }
    this.#listener = await startMetricsListener({ listen, reader, log })
  }

  /** With each welcome. */
  sample(intervalMs: number | undefined, takesFigures: boolean): void {
    this.#sampler.start(intervalMs, takesFigures)
  }

  /** A live subscription, or a group that is rolled out. */
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
