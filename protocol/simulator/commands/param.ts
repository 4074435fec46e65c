/** param.show, param.set, param.reset (mgt_param.c). */
import { cliStatus } from '../../status.js'
import { quoteBare, quoteJson } from '../reply-text.js'
import {
  defaultOf,
  findParam,
  initialOf,
  limitsOf,
  listParams,
  settingOf,
  type ParamSpec,
} from '../param-table.js'
import { parseParamValue, toJsonValue } from '../param-value.js'
import type { Call } from './call.js'

const nameColumn = 30
const textMargin = 8
const wrapColumn = 72

export function showParams(call: Call): void {
  const { reply, isJson, args } = call
  const words = isJson ? args.filter((word) => word !== '-j') : args
  if (isJson && words.includes('-l')) {
    reply.refuse(cliStatus.parameter, '-l not permitted with param.show -j')
    return
  }
  const [wanted, ...more] = words.filter((word) => word !== '-l' && word !== 'changed')
  if (more.length > 0) {
    reply.refuse(cliStatus.tooMany, 'Too many parameters')
    return
  }
  const specs = listParams(call.engine.release).filter(
    (spec) => wanted === undefined || spec.name === wanted,
  )
  if (wanted !== undefined && specs.length === 0) {
    refuseUnknown(call, wanted)
    return
  }
  const shown = words.includes('changed') ? specs.filter((spec) => isChanged(call, spec)) : specs
  if (isJson) writeJson(call, shown)
  else {
    const isLong = words.includes('-l') || wanted !== undefined
    for (const spec of shown) reply.out(printParam(call, spec, isLong))
  }
}

export function setParam(call: Call): void {
  const [name = '', value = ''] = call.args
  changeParam(call, name, value)
  showChanged(call, name)
}

export function resetParam(call: Call): void {
  const [name = ''] = call.args
  changeParam(call, name, undefined)
  showChanged(call, name)
}

/** With -j, a success is followed by the parameter as shown by param.show. */
function showChanged(call: Call, name: string): void {
  const spec = findParam(name)
  if (spec === undefined || !call.isJson || call.reply.status !== cliStatus.ok) return
  writeJson({ ...call, words: call.words.slice(0, 3) }, [spec])
}

function changeParam(
  { engine, reply, ...call }: Call,
  name: string,
  value: string | undefined,
): void {
  const spec = findParam(name, engine.release)
  if (spec === undefined) {
    refuseUnknown({ engine, reply, ...call }, name)
    return
  }
  if (spec.kind === 'none') {
    reply.refuse(cliStatus.cannot, `parameter "${name}" is not available on this platform.`)
    return
  }
  if (engine.setup.protectedParams.has(name)) {
    reply.refuse(cliStatus.auth, `parameter "${name}" is protected.`)
    return
  }
  const input = value ?? defaultOf(engine, spec)
  const parsed = parseParamValue(engine, spec, input)
  if ('refusal' in parsed) {
    reply.refuse(
      cliStatus.parameter,
      `${parsed.refusal}\n(attempting to set param '${name}' to '${input}')`,
    )
    return
  }
  if (parsed.text === initialOf(engine, spec)) engine.params.delete(name)
  else engine.params.set(name, parsed.text)
  if (engine.child !== undefined && spec.flags.includes('must_restart'))
    reply.out('\nChange will take effect when child is restarted')
  else if (spec.flags.includes('must_reload'))
    reply.out('\nChange will take effect when VCL script is reloaded')
}

function refuseUnknown({ reply }: Call, name: string): void {
  reply.clear().refuse(cliStatus.parameter, `Unknown parameter "${name}".`)
}

function isChanged({ engine }: Call, spec: ParamSpec): boolean {
  return settingOf(engine, spec) !== defaultOf(engine, spec)
}

function printParam(call: Call, spec: ParamSpec, isLong: boolean): string {
  const { engine } = call
  const margin = ' '.repeat(textMargin)
  if (spec.kind === 'none') {
    if (!isLong) return `${spec.name.padEnd(nameColumn)}-\n`
    return `${spec.name}\n${margin}Not available\n\n${wrap(spec.description)}\n\n`
  }
  const units = spec.units === '' ? '' : ` [${spec.units}]`
  const value = `${quoteBare(settingOf(engine, spec))}${units}${isChanged(call, spec) ? '' : ' (default)'}\n`
  if (!isLong) return spec.name.padEnd(nameColumn) + value
  const { minimum, maximum } = limitsOf(engine, spec)
  const limits = [
    ...(isChanged(call, spec) ? [`Default is: ${defaultOf(engine, spec)}`] : []),
    ...(minimum === undefined ? [] : [`Minimum is: ${minimum.text}`]),
    ...(maximum === undefined ? [] : [`Maximum is: ${maximum.text}`]),
  ]
  return [
    `${spec.name}\n${margin}Value is: ${value}`,
    ...limits.map((limit) => `${margin}${limit}\n`),
    `\n${wrap(spec.description)}\n\n`,
  ].join('')
}

function wrap(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && textMargin + line.length + 1 + word.length > wrapColumn) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((each) => ' '.repeat(textMargin) + each).join('\n')
}

function writeJson(call: Call, specs: readonly ParamSpec[]): void {
  const { engine, reply, words, nowMs } = call
  reply.beginJson(2, words, nowMs).out(',\n')
  specs.forEach((spec, index) => {
    reply
      .out(index === 0 ? '' : ',\n')
      .out('{\n')
      .indent(2)
    const member = (key: string, text: string | undefined) => {
      if (text !== undefined && text !== '') reply.out(`"${key}": ${quoteJson(text)},\n`)
    }
    member('name', spec.name)
    if (spec.kind === 'none') {
      reply.out('"implemented": false\n').indent(-2).out('}')
      return
    }
    const { minimum, maximum } = limitsOf(engine, spec)
    reply.out('"implemented": true,\n')
    reply.out(`"value": ${toJsonValue(spec, settingOf(engine, spec))},\n`)
    member('units', spec.units)
    member('default', defaultOf(engine, spec))
    member('minimum', minimum?.text)
    member('maximum', maximum?.text)
    member('description', spec.description)
    reply.out('"flags": [').indent(2)
    spec.flags.forEach((flag, at) => {
      reply.out(at === 0 ? '\n' : ',\n').out(quoteJson(flag))
    })
    if (spec.flags.length > 0) reply.out('\n')
    reply.indent(-2).out(']\n').indent(-2).out('}')
  })
  reply.endJson()
}
