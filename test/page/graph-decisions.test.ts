/** What invalidations and graphs decide without a browser: the sent body, places of errors, ranges, gaps. */
import fc from 'fast-check'
import t from 'tap'
import type { Mark } from '../../src/resources/mark.js'
import { keepGroups } from '../../src/page/views/graphs/describe-marks.js'
import { parseBanExpression } from '../../src/vcl/ban-expression.js'
import { alignSeries } from '../../src/page/charts/align-series.js'
import { listActions } from '../../src/page/views/invalidation/list-actions.js'
import {
  composeBody,
  findMark,
  findNoSite,
  coversEverything,
  readScope,
  toExpressions,
  type Draft,
} from '../../src/page/views/invalidations/compose-invalidation.js'
import {
  moveRange,
  rangeKeys,
  readRange,
  formatZoom,
  spans,
} from '../../src/page/views/graphs/graph-range.js'
import { columnsOf, graphs } from '../../src/page/views/graphs/graphs-shown.js'

const draft: Draft = {
  scope: 'expression',
  text: ' req.url ~ a \n\n',
  kind: 'tags',
  ids: [3, 4],
  ttl: 60,
  method: 'PURGE',
  headers: 'X-Soft: 1:2\n',
}

void t.test('the typed text becomes the body of the call, or null while incomplete', (t) => {
  const tags = [{ id: 3 }, { id: 4 }]
  t.same(composeBody(draft), { type: 'ban', expression: 'req.url ~ a', target: { tags }, ttl: 60 })
  t.match(composeBody({ ...draft, text: 'a\nb' }), { expressions: ['a', 'b'] })
  t.match(composeBody({ ...draft, kind: 'vclGroup', ids: [7] }), {
    target: { vclGroup: { id: 7 } },
  })
  t.match(composeBody({ ...draft, kind: 'all', ids: [] }), { target: { all: true } })
  t.match(composeBody({ ...draft, scope: 'url' }), {
    type: 'purge',
    urls: ['req.url ~ a'],
    method: 'PURGE',
    headers: { 'X-Soft': '1:2' },
  })
  t.equal(composeBody({ ...draft, text: ' \n' }), null)
  t.equal(composeBody({ ...draft, ids: [] }), null)
  t.end()
})

void t.test('a path or a site becomes a ban of exactly that path or site', (t) => {
  const expressionsOf = (scope: 'prefix' | 'site', text: string) => toExpressions({ scope, text })
  t.same(expressionsOf('site', 'https://www.Example.com/x\nb.example:81'), [
    'req.http.host ~ "(?i)^www[.]example[.]com(:[0-9]+)?$"',
    'req.http.host ~ "(?i)^b[.]example(:[0-9]+)?$"',
  ])
  t.same(expressionsOf('prefix', 'www.example.com/a+b?c=1'), [
    'req.http.host ~ "(?i)^www[.]example[.]com(:[0-9]+)?$" && req.url ~ "^/a[+]b[?]c=1"',
  ])
  t.same(expressionsOf('prefix', 'www.example.com/\nnot an address'), [], 'all of them, or none')
  t.equal(findNoSite({ scope: 'site', text: 'a.example\nb b' }), 'b b')
  t.equal(findNoSite({ scope: 'expression', text: 'b b' }), null)
  t.equal(composeBody({ ...draft, scope: 'site', text: 'b b' }), null)
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.webPath(), (url, path) => {
      const [expression = ''] = expressionsOf('prefix', url)
      const [host, own] = parseBanExpression(expression)
      const { hostname, pathname, search } = new URL(url)
      const isOf = (pattern: string | undefined, text: string) =>
        new RegExp(pattern?.replace('(?i)', '') ?? '$.').test(text)
      const isBelow = path.startsWith(`${pathname}${search}`)
      return (
        isOf(host?.value, `${hostname}:80`) &&
        !isOf(host?.value, `x${hostname}`) &&
        isOf(own?.value, `${pathname}${search}x`) &&
        isOf(own?.value, path) === isBelow
      )
    }),
  )
  t.match([readScope('purge'), readScope('ban'), readScope('site')], ['url', 'expression', 'site'])
  t.end()
})

void t.test('a grammar error is marked at its position', (t) => {
  const refusalOf = (text: string): string => {
    try {
      parseBanExpression(text)
    } catch (error) {
      return (error as Error).message // its FleetError
    }
    return ''
  }
  const marked = (text: string, errorMsg = refusalOf(text)): string | undefined => {
    const mark = findMark({ text }, errorMsg)
    return mark ? `${text.slice(0, mark.from)}[${text.slice(mark.from, mark.to)}]` : undefined
  }
  const text = 'req.url ~ \u{1f600} || x'
  t.equal(marked(text), 'req.url ~ \u{1f600} [||]')
  t.equal(marked('req.url'), 'req.url[]')
  t.equal(marked('obj.status = "a b"'), 'obj.status [=]')
  t.equal(marked('req.url ~ a "b \\" c" x'), 'req.url ~ a ["b \\" c"]')
  t.equal(marked('a\n\n  x ~ y', `expressions[1]: ${refusalOf('x ~ y')}`), 'a\n\n  [x]')
  const urls = 'http://a.example/1\n  http://a.example/\u00e4\n'
  t.equal(
    marked(urls, 'urls: "http://a.example/\u00e4": a URL holds no'),
    'http://a.example/1\n  [http://a.example/\u00e4]',
  )
  const long = `ftp://${'x'.repeat(90)}`
  t.equal(marked(long, `urls: "${long.slice(0, 80)}…": it is not absolute`), `[${long}]`)
  t.equal(findMark({ text }, 'target.tags: 9 was not found'), null)
  t.end()
})

void t.test('“everything” means all caches, or what the API reports as such', (t) => {
  t.ok(coversEverything({ target: { all: true } }, []))
  t.ok(coversEverything({ target: {} }, ['this ban matches every object of its targets']))
  t.notOk(coversEverything({ target: {} }, ['no VCL mentions it']))
  t.end()
})

void t.test('only actions that the API would accept are offered', (t) => {
  const result = { agent: { id: 1, name: 'a' }, error: null, at: null }
  const of = (stateName: string, state: 'pending' | 'failed' | 'done') =>
    listActions({ stateName, results: [{ ...result, state }] })
  t.same(of('Completed', 'done'), { retry: false, cancel: false, remove: true })
  t.same(of('Waiting', 'pending'), { retry: false, cancel: true, remove: false })
  t.same(of('Failed', 'failed'), { retry: true, cancel: false, remove: true })
  t.end()
})

void t.test('every address yields a valid range, and a zoom is read back unchanged', (t) => {
  const moment = fc.integer({ min: 1_500_000_000, max: 1_600_000_000 })
  fc.assert(
    fc.property(moment, fc.integer({ min: 1, max: 30_000_000 }), (from, length) => {
      const range = readRange(formatZoom(from, from + length))
      return (
        !range.isLive &&
        range.from <= from &&
        range.to >= from + length &&
        range.to - range.from >= 30
      )
    }),
  )
  fc.assert(
    fc.property(fc.string(), (word) => {
      const range = readRange(word)
      return range.isLive || range.to > range.from
    }),
  )
  t.match(readRange('5-5'), { isLive: true, span: { value: '1h' } })
  t.end()
})

void t.test('keys lead to readable ranges, never into the future, and back', (t) => {
  const now = 1_700_000_000
  const longestSeconds = 2 * 365 * 86_400
  const zooms = fc
    .tuple(fc.nat(longestSeconds), fc.integer({ min: 30, max: longestSeconds }))
    .map(([ago, length]) => readRange(formatZoom(now - ago - length, now - ago)))
  const lives = fc.constantFrom(...spans).map(({ value }) => readRange(value))
  const keys = fc.constantFrom(...rangeKeys.map(({ key }) => key))
  fc.assert(
    fc.property(fc.oneof(zooms, lives), keys, (range, key) => {
      const word = moveRange(range, key, now)
      if (word === null) return true
      const next = readRange(word)
      const isRead = next.isLive
        ? next.span.value === word
        : formatZoom(next.from, next.to) === word
      return isRead && (next.isLive || next.to <= now)
    }),
  )
  const go = (word: string, ...pressed: readonly (typeof rangeKeys)[number]['key'][]) =>
    pressed.reduce((from, key) => moveRange(readRange(from), key, now) ?? from, word)
  t.equal(go('1h', '+'), '10m')
  t.equal(go('10m', '+'), '10m')
  t.equal(go('365d', '-'), '365d')
  t.equal(go('1h', 'ArrowRight'), '1h', 'nothing is later than now')
  t.equal(go('10m', 'ArrowLeft'), formatZoom(now - 750, now - 150))
  t.equal(go('10m', 'ArrowLeft', 'ArrowRight'), formatZoom(now - 600, now))
  t.equal(go('10m', 'ArrowLeft', 'ArrowRight', 'ArrowRight'), formatZoom(now - 600, now))
  t.equal(go(formatZoom(now - 1000, now - 600), '+'), formatZoom(now - 900, now - 700))
  t.equal(go(formatZoom(now - 1000, now - 600), '+', '-'), formatZoom(now - 1000, now - 600))
  t.equal(go(formatZoom(now - 400, now), '-'), formatZoom(now - 800, now), 'only to the past')
  t.end()
})

void t.test('every point is drawn once, in order, and a gap remains a gap', (t) => {
  const rows = fc.uniqueArray(fc.nat(200), { maxLength: 50 })
  fc.assert(
    fc.property(rows, rows, (one, two) => {
      const series = [one, two].map((places) => places.map((at) => ({ time: at * 10, value: at })))
      const { times, values } = alignSeries(series)
      const ascends = times.every((time, at) => at === 0 || time > (times[at - 1] ?? 0))
      const kept = series.every((points, column) =>
        points.every(({ time, value }) => values[column]?.[times.indexOf(time)] === value),
      )
      return ascends && kept
    }),
  )
  const point = (time: number) => ({ time, value: 1 })
  t.same(alignSeries([[10, 20, 50].map(point)]), {
    times: [10, 20, 30, 50],
    values: [[1, 1, null, 1]],
  })
  t.end()
})

void t.test('a ratio to zero is unknown; a sum is of the known values', (t) => {
  const series = (counter: string, ...values: readonly number[]) => ({
    counter,
    values: values.map((value, at) => ({ time: at * 10, value })),
  })
  const graph = (title: string) => graphs.find((one) => one.title === title) ?? graphs[0]
  const shown = graph('Hit ratio')
  const storage = graph('Storage')
  if (!shown || !storage) throw new Error('they are there')
  const hits = [series('MAIN.cache_hit', 3, 0, 1), series('MAIN.cache_miss', 1, 0, 0)]
  t.same(columnsOf(shown, hits), { times: [0, 20], values: [[0.75, 1]] })
  t.same(columnsOf(storage, [series('SMF.s0.g_bytes', 5)]).values, [[5], [null], [null]])
  t.end()
})

void t.test('graphs of a domain mark only the deploys of its own groups', (t) => {
  const mark = (type: 'vclgroup' | 'invalidation' | 'agent', id: number): Mark => ({
    at: '2026-01-01T00:00:00Z',
    kind: 'deploy',
    failed: false,
    account: null,
    revision: 1,
    object: { type, id, name: 'shop' },
  })
  const marks = [
    mark('vclgroup', 1),
    mark('vclgroup', 2),
    mark('invalidation', 2),
    mark('agent', 2),
  ]

  t.same(keepGroups(marks, new Set([1])), [marks[0], marks[2], marks[3]])
  t.same(keepGroups(marks, null), marks)
  t.end()
})
