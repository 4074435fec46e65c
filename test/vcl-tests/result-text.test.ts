/** Test results as text, TAP and JUnit. */
import t from 'tap'
import {
  describeResult,
  describeTotal,
  formatJunit,
  formatTap,
} from '../../src/cli/test/result-text.js'
import type { StepResult, TestResult } from '../../src/resources/vcl-test-result.js'

const passed: StepResult = {
  number: 1,
  line: 3,
  title: 'GET /',
  durationMs: 2,
  problems: [],
  log: [],
}
const failed: StepResult = {
  number: 2,
  line: 5,
  title: 'GET /<a>&"b"',
  durationMs: 2,
  problems: ['expected status 200, got 503'],
  log: ['request 2 rxreq', '  ReqURL /\u0001'],
}
const result: TestResult = {
  file: 'a.test.yaml',
  name: 'a # b',
  durationMs: 12,
  notes: [],
  steps: [passed, failed],
  planned: 3,
  trouble: '1 steps were not run',
}
const good: TestResult = { ...result, steps: [passed], planned: 1, trouble: null }

void t.test('a failure contains file, line and step, and the log', (t) => {
  t.equal(
    describeResult(result),
    `FAIL  a.test.yaml: a # b (3 steps, 12 ms)
  a.test.yaml line 5: step 2: expected status 200, got 503
    GET /<a>&"b", in the log of the cache:
      request 2 rxreq
        ReqURL /\u0001
  1 steps were not run`,
  )
  t.equal(describeResult(good), 'ok    a.test.yaml: a # b (1 step, 12 ms)')
  t.equal(describeTotal([good, result]), '1 of 2 tests passed')
  t.end()
})

void t.test('TAP has a test point for each step, also for steps that did not run', (t) => {
  const lines = formatTap([good, result]).split('\n')
  t.same(
    lines.filter((line) => /^(?:TAP|1\.\.|ok|not ok)/.test(line)),
    [
      'TAP version 13',
      '1..4',
      'ok 1 - a.test.yaml: a \\# b: step 1',
      'ok 2 - a.test.yaml: a \\# b: step 1',
      'not ok 3 - a.test.yaml: a \\# b: step 2',
      'not ok 4 - a.test.yaml: a \\# b: step 3',
    ],
  )
  t.match(lines.join('\n'), 'message: "a.test.yaml line 5: step 2: expected status 200, got 503"')
  t.end()
})

void t.test('JUnit output is valid XML for any log text', (t) => {
  const xml = formatJunit([result])
  t.match(xml, '<testsuite name="a.test.yaml" tests="3" failures="2" errors="0" time="0.012">')
  t.match(xml, 'name="step 2: GET /&lt;a&gt;&amp;&quot;b&quot;"')
  t.notOk(xml.includes('\u0001'))
  t.end()
})
