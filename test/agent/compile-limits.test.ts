/** Cost limits of a compile, the meaning of its last words, and the budget an organization has left. */
import fc from 'fast-check'
import t from 'tap'
import { CompileBudgets } from '../../src/agent/check/compile-budgets.js'
import { describeDeadChild } from '../../src/agent/engine/dead-child.js'
import {
  budgetCpuMs,
  budgetWindowMs,
  describeLimits,
  findBudget,
  findWaitMs,
  keepRecent,
  loadLimits,
  mayExceed,
} from '../../src/vcl/compile-limits.js'
import { judgeRefusal } from '../../src/vcl/compile-verdict.js'

const costs = fc
  .array(fc.record({ endedAtMs: fc.nat(2 * budgetWindowMs), cpuMs: fc.nat(60_000) }))
  .map((all) => all.toSorted((a, b) => a.endedAtMs - b.endedAtMs))

void t.test('an organization waits exactly until less than its CPU budget is spent', (t) => {
  fc.assert(
    fc.property(costs, fc.nat(2 * budgetWindowMs), (all, nowMs) => {
      const known = all.filter(({ endedAtMs }) => endedAtMs <= nowMs)
      const spentAt = (ms: number): number =>
        keepRecent(known, ms).reduce((sum, { cpuMs }) => sum + cpuMs, 0)
      const waitMs = findWaitMs(known, nowMs)
      const isOver = spentAt(nowMs) >= budgetCpuMs
      const isEnough = spentAt(nowMs + waitMs) < budgetCpuMs
      const isLeast = waitMs === 0 || spentAt(nowMs + waitMs - 1) >= budgetCpuMs
      return waitMs > 0 === isOver && isEnough && isLeast && waitMs <= budgetWindowMs
    }),
  )
  t.end()
})

void t.test('only an organization on an agent it does not own has a budget', (t) => {
  t.equal(findBudget(null, null), undefined)
  t.equal(findBudget(7, 7), undefined)
  t.same(findBudget(7, null), { organization: 7 })
  t.end()
})

void t.test('with a smaller budget, smaller sources are compiled beside the cache first', (t) => {
  const small = { ...loadLimits, cpuMs: 5_000 }
  t.notOk(mayExceed(8_192, { ...loadLimits, cpuMs: 20_000 }, true))
  t.ok(mayExceed(8_193, { ...loadLimits, cpuMs: 20_000 }, true))
  t.notOk(mayExceed(4_096, small, true))
  t.ok(mayExceed(4_097, small, true))
  t.notOk(mayExceed(65_536, loadLimits, false))
  t.ok(mayExceed(65_537, loadLimits, false))
  t.end()
})

void t.test('limits are described in seconds and mebibytes', (t) => {
  t.equal(describeLimits({ cpuMs: 2500, memoryBytes: 3 << 20 }), '2.5 s of CPU time and 3 MiB')
  t.end()
})

void t.test('the outcome of a compile is read from its last words', (t) => {
  const end = (how: string): string => `${how}\nVCL compilation failed\n`
  const ofCompiler = (output: string, how: string): string =>
    end(`Message from C-compiler:\n${output}\nRunning C-compiler failed, ${how}`)
  const opened =
    'Message from dlopen:\nCould not load compiled VCL.\n\tdlopen() = vcl_x/vgc.so: file too short\n'
  t.same(judgeRefusal(end(`${opened}Running dlopen failed, exited with 1`)), { kind: 'compiles' })
  const cpu =
    'x86_64-linux-gnu-gcc: internal compiler error: CPU time limit exceeded signal terminated program cc1'
  t.same(judgeRefusal(ofCompiler(cpu, 'exited with 4')), { kind: 'exceeded', limit: 'cpu' })
  t.same(judgeRefusal(end('Running VCC-compiler failed, signal 24')), {
    kind: 'exceeded',
    limit: 'cpu',
  })
  const memory = 'cc1: out of memory allocating 65536 bytes after a total of 17457152 bytes'
  t.same(judgeRefusal(ofCompiler(memory, 'exited with 1')), { kind: 'exceeded', limit: 'memory' })
  const broken = ofCompiler('vgc.c:1: error: nonsense', 'exited with 1')
  t.same(judgeRefusal(broken), { kind: 'refused', text: broken })
  const quoting = end(
    'Message from VCC-compiler:\n# Running dlopen failed: out of memory\nRunning VCC-compiler failed, exited with 2',
  )
  t.same(judgeRefusal(quoting), { kind: 'refused', text: quoting })
  t.end()
})

void t.test('a dead child is described with the panic of this death only', (t) => {
  const at = Date.UTC(2026, 10, 22, 16, 0, 5)
  const panic = (time: string): string =>
    `Panic at: ${time}\nAssert error in f(), g.c line 1:\n  Condition(x) not true.\nversion = v\nident = i\n`
  const died = "the cache's child died while it loaded this VCL"
  t.equal(describeDeadChild(null, at), died)
  t.equal(describeDeadChild(panic('Sun, 22 Nov 2026 15:00:00 GMT'), at), died)
  t.match(
    describeDeadChild(panic('Sun, 22 Nov 2026 16:00:04 GMT'), at),
    /^the cache's child died while it loaded this VCL: Panic at: [^]*Condition\(x\) not true\.\nversion = v$/,
  )
  t.end()
})

void t.test('compiles that an organization starts together run one at a time', async (t) => {
  const budgets = new CompileBudgets(() => 0)
  let running = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++running)
    await new Promise((resume) => setImmediate(resume))
    running -= 1
    return { result: 'done', cpuMs: 40_000 }
  }
  const ended = await Promise.all(Array.from({ length: 5 }, () => budgets.spend(7, work)))
  t.equal(most, 1)
  const sentAway = { reason: /has used its 120 s of CPU time/, retryAfterSeconds: 600 }
  t.match(ended, [{ result: 'done' }, { result: 'done' }, { result: 'done' }, sentAway, sentAway])
  t.match(await budgets.spend(8, work), { result: 'done' })
})
