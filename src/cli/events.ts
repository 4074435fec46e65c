/** `events`: prints what changes until it is interrupted; `--json` one object a line. */
import { usageError } from './cli-error.js'
import { describeEvent } from './event-line.js'
import { followEvents } from './follow-events.js'
import { textFlag, type Invocation } from './verb.js'

/** Heard by everybody, and by who asks for them. */
const types = ['agent', 'deployment', 'invalidation', 'apilog']
const askedTypes = ['file', 'vclgroup', 'domain', 'tag']

export async function printEvents(invocation: Invocation): Promise<undefined> {
  const { output, surroundings } = invocation
  if (output.form === 'csv')
    throw usageError('events are no table; --json prints one object a line')
  const wanted = new Set([...readTypes(invocation), 'reset'])
  const also = askedTypes.filter((type) => wanted.has(type))
  const after = textFlag(invocation, 'after')
  if (after !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(after))
    throw usageError(`--after is ${JSON.stringify(after)}; the id of an event is right`)
  const tell = (line: string): void => {
    surroundings.stderr.write(`cachefleet: ${line}\n`)
  }
  for await (const heard of followEvents(await invocation.openApi(), { after, also, tell })) {
    if (!heard || !wanted.has(heard.event)) continue
    output.write(
      output.form === 'json'
        ? `${JSON.stringify(heard)}\n`
        : `${new Date(surroundings.now()).toISOString()}  ${describeEvent(heard)}\n`,
    )
  }
  return undefined
}

function readTypes(invocation: Invocation): readonly string[] {
  const given = textFlag(invocation, 'type')?.split(',') ?? types
  const known = [...types, ...askedTypes]
  const unknown = given.find((type) => !known.includes(type))
  if (unknown !== undefined)
    throw usageError(`--type has ${JSON.stringify(unknown)}; known are ${known.join(', ')}`)
  return given
}
