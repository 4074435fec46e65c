/** An agent's live log: reads its cache's traffic with the cache's own tool. */
import type { Logger } from 'pino'
import type { LogOrder, TopAnswer, TopQuestion } from '../../messages/live-log.js'
import type { AgentConfig } from '../agent-config.js'
import type { SavedState } from '../apply/saved-state.js'
import type { Sources } from '../apply/sources.js'
import { findCachePlace, type SoughtCache } from '../host/cache-place.js'
import { findCacheTool } from '../host/trusted-program.js'
import type { SampledFigures } from '../counters/sampler.js'
import type { CoordinatorLink } from '../link/coordinator-link.js'
import { countTop } from './count-top.js'
import type { LogTool } from './log-child.js'
import { LogChildren } from './log-children.js'
import { LogStreams } from './log-streams.js'
import { findLogTrouble, type LogTrouble } from './log-trouble.js'
import { ServedGroups } from './served-groups.js'
import { SimulatedFigures } from './simulated-figures.js'
import { TrafficFigures } from './traffic-figures.js'

interface AgentLogOptions extends Pick<SoughtCache, 'cachePid' | 'product'> {
  readonly config: Pick<AgentConfig, 'engine' | 'maskHeaders' | 'maskQuery' | 'sampleRate'>
  readonly state: SavedState
  readonly sources: Sources
  readonly link: Pick<CoordinatorLink, 'send' | 'sendIfClear'>
  readonly log: Logger
}

const simulatedHasNone = 'a simulated cache has no log'
const checkEveryMs = 60_000
/** The shared memory exists once the child is running. */
const retryEveryMs = 2_000

export class AgentLog {
  /** By group and domain. */
  readonly figures: SampledFigures
  readonly #streams: LogStreams
  readonly #children: LogChildren
  readonly #parts: Parameters<typeof countTop>[0]
  readonly #findTool: () => Promise<LogTool>
  readonly #logger: Logger
  readonly #isSimulated: boolean
  #trouble: LogTrouble | null
  #checked: { readonly cachePid: number | null; readonly atMs: number } = {
    cachePid: null,
    atMs: Number.NEGATIVE_INFINITY,
  }

  constructor({ config, state, sources, link, log, ...cache }: AgentLogOptions) {
    const { engine, maskHeaders = [], maskQuery = false, sampleRate = 0 } = config
    this.#logger = log
    this.#isSimulated = engine.mode === 'simulated'
    const why = this.#isSimulated ? simulatedHasNone : 'the cache was not seen yet'
    this.#trouble = { why, isLacking: false, isStarting: false }
    this.#findTool = () => findLogTool(engine, cache, 'logTool')
    this.#children = new LogChildren({
      findTool: ({ format }) =>
        findLogTool(engine, cache, format === null ? 'recordTool' : 'logTool'),
      log,
    })
    this.#parts = {
      children: this.#children,
      groups: new ServedGroups({
        readDesired: () => state.record.desired,
        readSource: (sha) => sources.read(sha),
      }),
      masking: { headers: maskHeaders, masksQuery: maskQuery },
    }
    this.figures = this.#isSimulated
      ? new SimulatedFigures(this.#parts.groups)
      : new TrafficFigures({
          ...this.#parts,
          canRead: () => this.#trouble === null,
          linesPerSecond: sampleRate,
          log,
        })
    this.#streams = new LogStreams({
      ...this.#parts,
      send: (message) =>
        message.kind === 'logLines' ? link.sendIfClear(message) : link.send(message),
      log,
    })
  }

  /** Why the log cannot be read; null if it can. */
  get trouble(): string | null {
    return this.#trouble?.why ?? null
  }

  /** What this host lacks to read the log; null: nothing, or there is no log here. */
  get lacking(): string | null {
    return this.#trouble?.isLacking === true ? this.#trouble.why : null
  }

  /**
   * Checks for the tool and for the permission to read the cache's memory, for each new cache and periodically, since both may
   * be granted while it is running. Calls `changed` when the result differs.
   */
  checkAgain(cachePid: number | null, changed: () => void): void {
    if (this.#isSimulated) return
    const nowMs = performance.now()
    const everyMs = this.#trouble === null ? checkEveryMs : retryEveryMs
    if (cachePid === this.#checked.cachePid && nowMs < this.#checked.atMs + everyMs) return
    this.#checked = { cachePid, atMs: nowMs }
    void findLogTrouble(this.#findTool).then((trouble) => {
      const isChanged = trouble?.why !== this.#trouble?.why
      if (trouble !== null && isChanged)
        this.#logger[trouble.isStarting ? 'debug' : 'info'](
          { why: trouble.why },
          'the log of the cache cannot be read',
        )
      this.#trouble = trouble
      if (isChanged) changed()
    }) // never rejects
  }

  take(order: LogOrder): void {
    this.#streams.take(order)
  }

  /** Rejects with the reason why it cannot be counted. */
  countTop(question: TopQuestion, signal: AbortSignal): Promise<TopAnswer> {
    return countTop(this.#parts, question, signal)
  }

  async stop(): Promise<void> {
    this.#streams.stop()
    await this.#children.stop()
  }
}

/** Rejects with the reason why there is none. */
async function findLogTool(
  engine: AgentConfig['engine'],
  sought: Pick<SoughtCache, 'cachePid' | 'product'>,
  tool: 'logTool' | 'recordTool',
): Promise<LogTool> {
  if (engine.mode === 'simulated') throw new Error(simulatedHasNone)
  const place = await findCachePlace({ ...sought, workingDirectory: engine.workingDirectory })
  if (place === null)
    throw new Error('the working directory of the cache is not known: --engine-name')
  const { folder, product, cache } = place
  const { logVariables: variables } = product
  return { folder, variables, program: await findCacheTool(cache, product[tool]) }
}
