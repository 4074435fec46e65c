/** Answers the coordinator's queries about a cache. Sends only reading commands. */
import { typedLine } from '../../../protocol/command.js'
import type { Param } from '../../../protocol/commands/param.js'
import { replyText } from '../../../protocol/frame.js'
import { paramShowAllText, paramShowText } from '../../../protocol/text/param-show.js'
import type { Context } from '../../context.js'
import type { Parameter, ParameterSet } from '../../messages/answers.js'
import type { QueryName } from '../../messages/coordinator-to-agent.js'
import { isCut, type Engine } from '../engine/engine.js'
import { listBackends } from '../backends/list-backends.js'
import { readPanic, type PanicTools } from '../engine/panic.js'

/** `GET /agents/{id}/vcls` (docs/behaviour.md, Agents): omits discarded rows, whose names can no longer be addressed. */
interface VclView {
  readonly name: string
  /** active | available */
  readonly status: string
  /** auto | cold | warm | label */
  readonly state: string
  readonly temperature: string | null
  /** References; null while the child is not running. */
  readonly busy: number | null
  /** The target of a label. */
  readonly label: string | null
}

type EngineQuery = Exclude<QueryName, 'panic'>

const answers: Readonly<
  Record<EngineQuery, (engine: Engine, context: Context) => Promise<unknown>>
> = {
  vcls: listVcls,
  params: listParameters,
  backends: listBackends,
  bans: (engine, context) => engine.run(context, engine.reading.banList()),
}

/** Rejects with ManagementPortError. */
export function answerQuery(tools: PanicTools, query: QueryName): Promise<unknown> {
  if (query === 'panic') return readPanic(tools)
  return answers[query](tools.engine, tools.context)
}

async function listVcls(engine: Engine, context: Context): Promise<readonly VclView[]> {
  const rows = await engine.run(context, engine.reading.vclList())
  return rows
    .filter((row) => row.status !== 'discarded')
    .map((row) => ({
      name: row.name,
      status: row.status,
      state: row.state,
      temperature: row.temperature,
      busy: row.busy,
      label: row.label?.target ?? null,
    }))
}

/**
 * Uses the text form: it prints a value like its default, so that the two can be compared. Both are empty for parameters
 * that this build of the cache lacks.
 */
async function listParameters(engine: Engine, context: Context): Promise<ParameterSet> {
  const parameters = await readParameters(engine, context)
  return Object.fromEntries(parameters.map((parameter) => [parameter.name, toParameter(parameter)]))
}

/** Converts the text form. */
export function toParameter({ value, default: standard, units, description }: Param): Parameter {
  return {
    value: typeof value === 'string' ? value : '',
    default: standard ?? '',
    unit: units ?? '',
    description: description ?? '',
  }
}

/** All parameters take 45 kB, close to the `cli_limit` of many releases: if the answer is cut, each is read separately. */
async function readParameters(engine: Engine, context: Context): Promise<readonly Param[]> {
  try {
    return await engine.run(context, paramShowAllText())
  } catch (error) {
    if (!isCut(error)) throw error
  }
  const names = replyText(await engine.run(context, typedLine('param.show')))
    .split('\n')
    .flatMap((line) => /^[a-z][a-z0-9_]*/.exec(line)?.[0] ?? [])
  const parameters: Param[] = []
  for (const name of names) parameters.push(await engine.run(context, paramShowText(name)))
  return parameters
}
