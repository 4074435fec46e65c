/** Answers to what the coordinator asks of a cache. Only reading commands are sent. */
import { typedLine } from '../../protocol/command.js'
import type { Param } from '../../protocol/commands/param.js'
import { panicShow } from '../../protocol/commands/process.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { replyText } from '../../protocol/frame.js'
import { paramShowAllText, paramShowText } from '../../protocol/text/param-show.js'
import type { Context } from '../context.js'
import type { QueryName } from '../messages/coordinator-to-agent.js'
import type { Engine } from './engine.js'

/** `GET /agents/{id}/vcls` (choices: 3): discarded rows are left out, their names can no longer be addressed. */
export interface VclView {
  readonly name: string
  /** active | available */
  readonly status: string
  /** auto | cold | warm | label */
  readonly state: string
  readonly temperature: string | null
  /** References; null while the child does not run. */
  readonly busy: number | null
  /** The VCL that a label stands for. */
  readonly label: string | null
}

/** The specification's Parameter set: all four are strings. */
export type ParameterSet = Readonly<
  Record<
    string,
    {
      readonly value: string
      readonly default: string
      readonly unit: string
      readonly description: string
    }
  >
>

const answers: Readonly<Record<QueryName, (engine: Engine, context: Context) => Promise<unknown>>> =
  {
    vcls: listVcls,
    params: listParameters,
    backends: (engine, context) => engine.run(context, engine.reading.backendList()),
    bans: (engine, context) => engine.run(context, engine.reading.banList()),
    panic: (engine, context) => engine.run(context, panicShow()),
  }

/** Rejects with ManagementPortError. */
export function answerQuery(engine: Engine, context: Context, query: QueryName): Promise<unknown> {
  return answers[query](engine, context)
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

/** In the text form: there a value is printed as its default is, so that the two can be compared. */
async function listParameters(engine: Engine, context: Context): Promise<ParameterSet> {
  const parameters = await readParameters(engine, context)
  return Object.fromEntries(
    parameters
      .filter((parameter) => parameter.isImplemented)
      .map((parameter) => [
        parameter.name,
        {
          value: typeof parameter.value === 'string' ? parameter.value : '',
          default: parameter.default ?? '',
          unit: parameter.units ?? '',
          description: parameter.description ?? '',
        },
      ]),
  )
}

/** All in one answer is 45 kB, close to the `cli_limit` of many releases: over it, they are asked for one by one. */
async function readParameters(engine: Engine, context: Context): Promise<readonly Param[]> {
  try {
    return await engine.run(context, paramShowAllText())
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.status !== 201) throw error
  }
  const names = replyText(await engine.run(context, typedLine('param.show')))
    .split('\n')
    .flatMap((line) => /^[a-z][a-z0-9_]*/.exec(line)?.[0] ?? [])
  const parameters: Param[] = []
  for (const name of names) parameters.push(await engine.run(context, paramShowText(name)))
  return parameters
}
