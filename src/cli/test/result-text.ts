/** Formats test results for people, as TAP, and as JUnit XML. Pure. */
import {
  describeStep,
  hasPassed,
  listFailures,
  type StepResult,
  type TestResult,
} from '../../resources/vcl-test-result.js'

export function describeResult(result: TestResult): string {
  const { file, name, planned, durationMs } = result
  const title = name === file ? file : `${file}: ${name}`
  const time = `${planned} ${planned === 1 ? 'step' : 'steps'}, ${Math.round(durationMs)} ms`
  if (hasPassed(result)) return `ok    ${title} (${time})`
  return [`FAIL  ${title} (${time})`, ...indent(listFailures(result))].join('\n')
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`)
}

export function describeTotal(results: readonly TestResult[]): string {
  const passed = results.filter(hasPassed).length
  return `${passed} of ${results.length} ${results.length === 1 ? 'test' : 'tests'} passed`
}

/** TAP version 13. Steps that did not run get a point too. */
export function formatTap(results: readonly TestResult[]): string {
  let point = 0
  const lines = results.flatMap((result) =>
    listSteps(result).flatMap((step) => {
      point += 1
      const { file, name, number, problems } = step
      const title = `${file}: ${name}: step ${number}`.replaceAll('#', '\\#')
      const ok = problems.length === 0 ? 'ok' : 'not ok'
      return [`${ok} ${point} - ${title}`, ...(problems.length > 0 ? describeYaml(step) : [])]
    }),
  )
  return ['TAP version 13', `1..${point}`, ...lines, ''].join('\n')
}

type ReportedStep = StepResult & Pick<TestResult, 'file' | 'name'>

function listSteps({ file, name, steps, planned, trouble }: TestResult): readonly ReportedStep[] {
  const rest = Array.from({ length: planned - steps.length }, (_, index) => ({
    number: steps.length + index + 1,
    line: 1,
    title: 'not run',
    durationMs: 0,
    log: [],
    problems: [`not run: ${trouble ?? ''}`],
  }))
  return [...steps, ...rest].map((step) => ({ ...step, file, name }))
}

/** JSON is valid YAML, and no text in it can end the block. */
function describeYaml(step: ReportedStep): readonly string[] {
  return indent([
    '---',
    `message: ${JSON.stringify(describeStep(step.file, step))}`,
    `step: ${JSON.stringify(step.title)}`,
    'log:',
    ...step.log.map((line) => `  - ${JSON.stringify(line)}`),
    ...(step.log.length === 0 ? ['  []'] : []),
    '...',
  ])
}

export function formatJunit(results: readonly TestResult[]): string {
  const suites = results.flatMap((result) => {
    const steps = listSteps(result)
    const failures = steps.filter(({ problems }) => problems.length > 0).length
    const counts = `tests="${steps.length}" failures="${failures}" errors="0"`
    const time = (result.durationMs / 1000).toFixed(3)
    return [
      `  <testsuite name=${quote(result.file)} ${counts} time="${time}">`,
      ...steps.flatMap(describeCase),
      '  </testsuite>',
    ]
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

function describeCase(step: ReportedStep): readonly string[] {
  const names = `classname=${quote(step.name)} name=${quote(`step ${step.number}: ${step.title}`)}`
  const open = `    <testcase ${names} time="${(step.durationMs / 1000).toFixed(3)}"`
  if (step.problems.length === 0) return [`${open}/>`]
  const sentence = describeStep(step.file, step)
  const text = escapeXml([sentence, ...step.log].join('\n'))
  return [
    `${open}>`,
    `      <failure message=${quote(sentence)}>${text}</failure>`,
    '    </testcase>',
  ]
}

function quote(text: string): string {
  return `"${escapeXml(text).replaceAll('\n', '&#10;')}"`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/** Replaces characters that XML 1.0 does not allow. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (found) => entities[found] ?? '')
}
