/**
 * Reads a test file (YAML or JSON) into runnable steps, or lists its problems with their lines (docs/behaviour.md,
 * Tests of VCL). Pure: the coordinator calls it when such a file is written, the client before it runs one.
 */
import { readYaml } from '../yaml-lines.js'
import { readBackends } from './read-backends.js'
import { readAction } from './read-step.js'
import {
  maxRepeats,
  maxRepeatDepth,
  maxSteps,
  testFileLimitBytes,
  type StepAction,
  type TestFile,
  type TestStep,
} from './test-file.js'
import { ValueReader, isMap, maxProblems, type TestProblem, type Values } from './value-reader.js'

type ReadTestFile =
  | { readonly ok: true; readonly test: TestFile }
  /** At least one. */
  | { readonly ok: false; readonly problems: readonly TestProblem[] }

export function readTestFile(text: string): ReadTestFile {
  const bytes = Buffer.byteLength(text)
  if (bytes > testFileLimitBytes)
    return refuse(1, `the file has ${bytes} bytes; at most ${testFileLimitBytes} are allowed`)
  const { documents, problems } = readYaml(text)
  if (problems.length > 0) {
    const listed = problems.slice(0, maxProblems)
    return {
      ok: false,
      problems: listed.map(({ line, message }) => ({ line: line ?? 1, message })),
    }
  }
  const [document, second] = documents
  if (document === undefined || document.value === null) return refuse(1, 'the file is empty')
  if (second !== undefined)
    return refuse(second.lineOf([]) ?? 1, 'a file holds one test; this is a second document')
  const reader = new ValueReader(document)
  const test = readTest(reader, document.value)
  return reader.problems.length > 0 ? { ok: false, problems: reader.problems } : { ok: true, test }
}

function refuse(line: number, message: string): ReadTestFile {
  return { ok: false, problems: [{ line, message }] }
}

const keys = ['name', 'vcl', 'backends', 'steps']

function readTest(reader: ValueReader, value: unknown): TestFile {
  const values = reader.map(value, [], keys) ?? {}
  const textOf = (key: string): string | null =>
    values[key] === undefined ? null : reader.text(values[key], [key])
  const backends = readBackends(reader, values['backends'])
  const parsed = readSteps(reader, values['steps'], { path: ['steps'], deep: 0 })
  const isRight = reader.problems.length === 0
  if (isRight && parsed.length === 0) reader.add(['steps'], 'a test has at least one step')
  const count = countSteps(parsed)
  if (count > maxSteps)
    reader.add(['steps'], `after repetition there are ${count} steps; ${maxSteps} are the most`)
  const steps = isRight && count <= maxSteps ? [...unroll(parsed)] : []
  return {
    name: textOf('name'),
    vcl: textOf('vcl'),
    backends,
    steps: steps.map((step, index) => ({ number: index + 1, ...step })),
  }
}

/** A step as written in the file. */
type WrittenStep =
  | (Omit<TestStep, 'number'> & { readonly action: StepAction })
  | { readonly repeat: number; readonly steps: readonly WrittenStep[] }

interface StepPlace {
  readonly path: readonly (string | number)[]
  /** The number of enclosing repeats. */
  readonly deep: number
}

function readSteps(reader: ValueReader, value: unknown, place: StepPlace): readonly WrittenStep[] {
  if (value === undefined) {
    reader.add(place.path.slice(0, -1), 'steps is missing: a list of what is done')
    return []
  }
  return reader.list(value, place.path).flatMap((step, index) => {
    const path = [...place.path, index]
    if (isMap(step) && 'repeat' in step) return readRepeat(reader, step, { ...place, path })
    const action = readAction(reader, step, path)
    return action === null ? [] : [{ line: reader.lineOf(path), action }]
  })
}

function readRepeat(
  reader: ValueReader,
  step: Values,
  { path, deep }: StepPlace,
): readonly WrittenStep[] {
  if (reader.map(step, path, ['repeat', 'steps']) === null) return []
  if (deep === maxRepeatDepth) {
    reader.add([...path, 'repeat'], `repeats stand in each other at most ${maxRepeatDepth} deep`)
    return []
  }
  const bounds = { least: 1, most: maxRepeats }
  const repeat = reader.number(step['repeat'], [...path, 'repeat'], bounds)
  const inner = { path: [...path, 'steps'], deep: deep + 1 }
  return [{ repeat, steps: readSteps(reader, step['steps'], inner) }]
}

function countSteps(steps: readonly WrittenStep[]): number {
  return steps.reduce(
    (sum, step) => sum + ('repeat' in step ? step.repeat * countSteps(step.steps) : 1),
    0,
  )
}

function* unroll(steps: readonly WrittenStep[]): Generator<Omit<TestStep, 'number'>> {
  for (const step of steps)
    if (!('repeat' in step)) yield step
    else for (let round = 0; round < step.repeat; round++) yield* unroll(step.steps)
}
