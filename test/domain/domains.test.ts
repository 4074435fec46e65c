/** Domain names, the VCL that routes by them, the prologue, and what a cache with several groups must hold. */
import fc from 'fast-check'
import { domainToASCII } from 'node:url'
import t from 'tap'
import { indexAgents, noteDomains, recordPlacement } from '../../src/domain/agent-index.js'
import { agentStates } from '../../src/domain/agent-state.js'
import {
  composeDesired,
  composeNextRouting,
  idleEngine,
  idleVclName,
  type PlacedProgram,
  type PlacedPrograms,
} from '../../src/domain/desired-engine.js'
import { isDomainName, parseDomainName } from '../../src/domain/domain-name.js'
import { placeGroup } from '../../src/domain/placement.js'
import {
  cutPrologue,
  findProloguePlace,
  prologueFile,
  purgeSecret,
  renderPrologue,
} from '../../src/domain/prologue.js'
import { makeRoutingVcl, type Route } from '../../src/domain/routing-vcl.js'
import { locateSource } from '../../src/domain/source-map.js'
import { bundleVcl } from '../../src/domain/vcl-bundle.js'
import { lexVcl, type Token } from '../../src/domain/vcl-lexer.js'
import { findAttainable } from '../../src/agent/attainable.js'
import { planVcl } from '../../src/domain/vcl-plan.js'
import { parseSources } from '../../src/domain/vcl-group.js'
import { vclFilesOf, vclPieces, vclTexts } from '../support/arbitraries.js'

const parse = (text: string): string => parseDomainName(text, domainToASCII)
const whenRefused = (text: string): string | null => {
  try {
    return parse(text)
  } catch {
    return null
  }
}

void t.test('a name is kept in lower case and ASCII, without its last dot', (t) => {
  const names: Readonly<Record<string, string>> = {
    'Shop.Example': 'shop.example',
    '*.Shop.example': '*.shop.example',
    'shop.example.': 'shop.example',
    localhost: 'localhost',
    'Bücher.example': 'xn--bcher-kva.example',
    '*.bücher.example': '*.xn--bcher-kva.example',
    '例え。テスト': 'xn--r8jz45g.xn--zckzah',
    'XN--BCHER-KVA.example': 'xn--bcher-kva.example',
    '192.0.2.1': '192.0.2.1',
    [`${'a'.repeat(63)}.example`]: `${'a'.repeat(63)}.example`,
  }
  for (const [given, wanted] of Object.entries(names)) t.equal(parse(given), wanted, given)
  t.end()
})

void t.test('what is no host name is refused, and the message says what would be right', (t) => {
  const refused = [
    ...['', '.', '*', '*.', '*.*.example', 'a.*.example', 'a*.example', '**.example', '.example'],
    ...['shop.example:80', 'https://shop.example', 'shop.example/x', 'user@shop.example', '[::1]'],
    ...['a..example', 'shop.example..', '-a.example', 'a-.example', 'a_b.example', 'a b.example'],
    ...['a%2eexample', '%61.example', 'a\\.example', 'a"b.example', 'a\n.example', 'a\0.example'],
    ...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(126)}example`, 'é:80', 'é/x', 'é%2e.example'],
    ...['＊.example', 'é\u2028.example', '\ud800.example', 'shop.example}', 'a;b', '"'],
  ]
  t.same(
    refused.filter((given) => whenRefused(given) !== null),
    [],
  )
  const message = /^fqdn: "example:80".*www\.example\.com is right/
  t.throws(() => parse('shop.example:80'), { kind: 'invalid', errorKey: 'domain', message })
  t.end()
})

void t.test('whatever is given, what is kept is a plain name and stays as it is', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc
      .array(fc.constantFrom('a', 'B', 'ü', '-', '.', '*', '。', '"', '%2e', 'xn--', '０', 'ß'), {
        maxLength: 10,
      })
      .map((parts) => parts.join('')),
    fc.domain(),
  )
  const property = fc.property(text, (given) => {
    const kept = whenRefused(given)
    if (kept === null) return
    if (!/^(?:\*\.)?[a-z0-9.-]{1,253}$/.test(kept)) throw new Error(kept)
    if (parse(kept) !== kept || !isDomainName(kept)) throw new Error(`${kept} again`)
    if (given.startsWith('*.') !== kept.startsWith('*.')) throw new Error('a wildcard by itself')
  })

  fc.assert(property, { numRuns: 5000 })
  t.end()
})

const labels = fc.constantFrom('a', 'b', 'cc', 'x-y', '1')
const names = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
const routes: fc.Arbitrary<Route[]> = fc.uniqueArray(
  fc.record({
    fqdn: fc.tuple(fc.boolean(), names).map(([wild, name]) => (wild ? `*.${name}` : name)),
    groupId: fc.integer({ min: 1, max: 5 }),
  }),
  { selector: ({ fqdn }) => fqdn, maxLength: 12 },
)

/** Reads the generated statements as the cache does: the first whose condition holds decides. Null: 404. */
function route(text: string, host: string): number | null {
  const asked = host.toLowerCase().replace(/\.?(:[0-9]*)?$/, '')
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(asked)) return null
  const line =
    / {2}if \(req\.http\.X-Cachefleet-Host (==|~) "(.*)"\) \{ return \(vcl\(cf-l-(\d+)\)\); \}/g
  for (const [, operator, value = '', group] of text.matchAll(line))
    if (operator === '==' ? asked === value : new RegExp(value).test(asked)) return Number(group)
  return null
}

/** The rules, told in another way. */
function expected(all: readonly Route[], host: string): number | null {
  const asked = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  const parts = asked.split('.')
  const candidates = [asked, ...parts.slice(1).map((_, at) => `*.${parts.slice(at + 1).join('.')}`)]
  for (const fqdn of candidates) {
    const found = all.find((one) => one.fqdn === fqdn)
    if (found) return found.groupId
  }
  return null
}

void t.test(
  'requests go where the rules say: exact before wildcard, the longest wildcard first',
  (t) => {
    const hosts = fc.tuple(names, fc.constantFrom('', '.', ':80', '.:8080', ':'), fc.boolean())
    const property = fc.property(routes, fc.array(hosts, { minLength: 1 }), (all, asked) => {
      const { text } = makeRoutingVcl(all)
      for (const [name, tail, isUpper] of asked) {
        const host = (isUpper ? name.toUpperCase() : name) + tail
        if (route(text, host) !== expected(all, host)) throw new Error(`${host} in ${text}`)
      }
    })

    fc.assert(property, { numRuns: 2000 })
    t.end()
  },
)

void t.test('the order of the routes does not matter, and each text has its name', (t) => {
  const property = fc.property(routes, (all) => {
    const one = makeRoutingVcl(all)
    const other = makeRoutingVcl(all.toReversed())
    if (one.text !== other.text) throw new Error('another text')
    if (one.name !== `cf-r-${one.sha.slice(0, 8)}`) throw new Error(one.name)
    if ([...lexVcl(one.text)].some(({ kind }) => kind === 'error')) throw new Error(one.text)
  })

  fc.assert(property)
  for (const fqdn of ['a";', 'a\nb', '', 'A', '*', 'a*'])
    t.throws(() => makeRoutingVcl([{ fqdn, groupId: 1 }]), JSON.stringify(fqdn))
  t.end()
})

void t.test('whatever name is accepted, a strict reader finds it and nothing else', (t) => {
  const shape = (tokens: readonly Token[]): string => tokens.map(({ kind }) => kind).join()
  const read = (fqdn: string) => [...lexVcl(makeRoutingVcl([{ fqdn, groupId: 7 }]).text)]
  const strings = (tokens: readonly Token[]) =>
    tokens.filter(({ kind }) => kind === 'string').map(({ value }) => value)
  const plain = { exact: read('a.example'), wild: read('*.a.example') }
  const part = fc.constantFrom(
    ...[
      'a',
      'B',
      '-',
      '.',
      '*',
      '"',
      '\\',
      '\n',
      '{',
      '}',
      '"}',
      '"""',
      '%22',
      ';',
      '#',
      '//',
      '/*',
    ],
    ...[
      'ü',
      '。',
      '．',
      'ß',
      'ẞ',
      'ſ',
      '\u200d',
      '\0',
      '$',
      '(',
      ')',
      '|',
      '\ud800',
      '１',
      '㎏',
      '℡',
    ],
  )
  const given = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.tuple(fc.domain(), part).map(([domain, extra]) => domain + extra),
    fc.domain(),
    fc.domain().map((domain) => `*.${domain}`),
  )
  let accepted = 0
  const property = fc.property(given, (text) => {
    const fqdn = whenRefused(text)
    if (fqdn === null) return
    accepted++
    const base = fqdn.startsWith('*.') ? fqdn.slice(2) : null
    const tokens = read(fqdn)
    const like = base === null ? plain.exact : plain.wild
    if (shape(tokens) !== shape(like)) throw new Error(`other statements for ${fqdn}`)
    const [before, own] = [strings(tokens).slice(0, -1), strings(tokens).at(-1)]
    if (before.join('\n') !== strings(like).slice(0, -1).join('\n')) throw new Error(fqdn)
    const wanted = base === null ? fqdn : `\\.${base.split('.').join('\\.')}$`
    if (own !== wanted) throw new Error(`${fqdn} is read as ${String(own)}`)
    if (/[^a-z0-9.$\\-]/.test(wanted)) throw new Error(`${wanted} is more than a name`)
  })

  fc.assert(property, { numRuns: 5000 })
  t.ok(accepted > 1000)
  t.end()
})

const prologue = { groupId: 7, cacheKey: '0123456789abcdef'.repeat(2) }

void t.test('the prologue stands right behind the version, and nowhere else', (t) => {
  const beginnings = fc
    .array(fc.constantFrom('# vcl 4.1;\n', '/* ; */', '\n', ' ', '// "\n', '\t'), { maxLength: 4 })
    .map((parts) => parts.join(''))
  const declarations = fc.constantFrom('vcl 4.1;', 'vcl 4.0 ;', 'vcl/* ; */4.1\n;', 'vcl # ;\n4.1;')
  const property = fc.property(
    fc.tuple(beginnings, declarations, vclTexts).map((parts) => parts.join('')),
    (text) => {
      const bundle = bundleVcl({ name: 'main.vcl', text }, new Map(), {
        allowedExternal: new Set(),
        modules: null,
        prologue,
      })
      if (!bundle.ok) return
      const own = renderPrologue(prologue)
      const at = bundle.text.indexOf(own)
      if (at < 0 || bundle.text.replace(own, '') !== text) throw new Error('other text is sent')
      const before = [...lexVcl(bundle.text.slice(0, at))].map((token) => token.text)
      if (before.length !== 3 || before[2] !== ';') throw new Error(before.join(' '))
    },
  )

  fc.assert(property, { numRuns: 2000 })
  t.equal(findProloguePlace(lexVcl('sub vcl_recv {} vcl 4.1;')), null)
  t.equal(findProloguePlace(lexVcl('vcl 4.1')), null)
  t.end()
})

void t.test('with a prologue too, every token of the author is found where it was written', (t) => {
  const property = fc.property(vclFilesOf(vclPieces), ({ main, includes }) => {
    const versioned = { name: main.name, text: `vcl 4.1;${main.text}` }
    const options = { allowedExternal: new Set<string>(), modules: null }
    const plain = bundleVcl(versioned, includes, options)
    const bundle = bundleVcl(versioned, includes, { ...options, prologue })
    if (plain.ok !== bundle.ok && !JSON.stringify(bundle).includes('return (vcl'))
      throw new Error('refused for its prologue')
    if (!plain.ok || !bundle.ok) return
    const places = [...lexVcl(bundle.text)]
      .map((token) => locateSource(bundle.sourceMap, token))
      .filter((place) => place?.file !== prologueFile)
    const wanted = [...lexVcl(plain.text)].map((token) => locateSource(plain.sourceMap, token))
    if (JSON.stringify(places) !== JSON.stringify(wanted)) throw new Error('other places')
  })

  fc.assert(property, { numRuns: 1000 })
  t.end()
})

void t.test('a label is for no author of a group with domains, however it is written', (t) => {
  const refuse = (body: string) => {
    const text = `vcl 4.1;\nsub vcl_recv { ${body} }\n`
    return bundleVcl({ name: 'main.vcl', text }, new Map(), {
      allowedExternal: new Set(),
      modules: null,
      prologue,
    })
  }
  for (const body of ['return (vcl(cf-l-1));', 'return(\nvcl /* x */ ( cf-l-1 ) ) ;'])
    t.match(refuse(body), { ok: false, errors: [/^main\.vcl line \d pos \d+: return \(vcl/] }, body)
  for (const body of ['set req.http.vcl = "vcl(";', '# return (vcl(x));\n', 'call vcl;'])
    t.match(refuse(body), { ok: true }, body)
  t.end()
})

void t.test('the secrets of a prologue are in no answer, whatever stands around it', (t) => {
  const own = renderPrologue(prologue)
  const [first = '', last = ''] = own.split('\n').filter((line) => line.startsWith('#'))
  const around = fc
    .array(fc.constantFrom(first, last, 'x', '\n', '# generated by cachefleet: '), { maxLength: 6 })
    .map((parts) => parts.join(''))
  const property = fc.property(around, around, fc.nat({ max: 2000 }), (before, behind, cut) => {
    const shown = cutPrologue((before + own + behind).slice(0, cut))
    for (const secret of [prologue.cacheKey, purgeSecret(prologue.cacheKey)])
      if (shown.includes(secret)) throw new Error(shown)
  })

  fc.assert(property, { numRuns: 2000 })
  t.equal(cutPrologue(`vcl 4.1;${own}backend x none;`), 'vcl 4.1;\nbackend x none;')
  t.throws(() => renderPrologue({ groupId: 1, cacheKey: '' }), /no random value/)
  t.end()
})

const programs = fc.record({
  version: fc.integer({ min: 1, max: 3 }),
  fqdns: fc.subarray(['a.example', '*.example', 'b.example'], { minLength: 1 }),
})

/** Groups with domains on one agent; names differ by group, as the tables hold it. */
const places: fc.Arbitrary<PlacedPrograms[]> = fc
  .uniqueArray(
    fc.record({
      groupId: fc.integer({ min: 1, max: 4 }),
      current: fc.option(programs),
      candidate: fc.option(programs),
      previous: fc.option(programs),
    }),
    { selector: ({ groupId }) => groupId, maxLength: 4 },
  )
  .map((groups) =>
    groups.map(({ groupId, ...three }) => {
      const program = (one: typeof three.current): PlacedProgram | null =>
        one && {
          name: `cf-${groupId}-0000000${one.version}-1`,
          sha: String(one.version),
          fqdns: one.fqdns.map((fqdn) => fqdn.replace('example', `g${groupId}.example`)),
        }
      return {
        ...{ groupId, organizationId: null, current: program(three.current) },
        ...{ candidate: program(three.candidate), previous: program(three.previous) },
      }
    }),
  )

void t.test(
  'every label that the routing VCLs return is there, whatever becomes of a candidate',
  (t) => {
    const property = fc.property(places, (groups) => {
      const { desired, routings } = composeDesired(groups)
      const candidates = groups.flatMap(({ candidate, current }) =>
        candidate && candidate.name !== current?.name ? [candidate.name] : [],
      )
      const inventory = { childRunning: false, vcls: [] }
      const attainable = findAttainable(desired, new Set(candidates), inventory).desired
      const there = new Map(attainable.labels.map(({ label, program }) => [label, program]))
      for (const { text, name } of routings) {
        if (!attainable.load.some((program) => program.name === name)) throw new Error('not loaded')
        for (const [, label = ''] of text.matchAll(/vcl\((cf-l-\d+)\)/g))
          if (!there.has(label)) throw new Error(`${label} is missing`)
      }
      if (candidates.some((name) => [...there.values()].includes(name)))
        throw new Error('a label stands for what did not compile')
      planVcl({ desired: attainable, inventory, ours: new Set() }) // throws when it contradicts itself
    })

    fc.assert(property, { numRuns: 2000 })
    t.end()
  },
)

void t.test('phase two compiles nothing when all that load switch together', (t) => {
  const property = fc.property(places, (groups) => {
    const before = composeDesired(groups).desired
    const switched = groups.map((group) => ({
      ...group,
      current: group.candidate ?? group.current,
      candidate: null,
    }))
    const after = composeDesired(switched).desired
    const loaded = new Set(before.load.map(({ name }) => name))
    const missing = after.load.filter(({ name }) => !loaded.has(name))
    if (missing.length > 0) throw new Error(JSON.stringify(missing))
    const next = composeNextRouting(groups)?.name ?? idleVclName
    if (after.active !== next) throw new Error(`${after.active}, not ${next}`)
  })

  fc.assert(property, { numRuns: 2000 })
  t.end()
})

void t.test('whose objects a cache may serve follows from what serves there', (t) => {
  const root = { name: 'cf-1-00000001-1', sha: '1', fqdns: null }
  const named = { ...root, fqdns: ['a.example'] }
  const place = { groupId: 1, organizationId: 3, current: null, candidate: root, previous: null }
  t.same(composeDesired([]), { desired: idleEngine, routings: [] })
  t.equal(composeDesired([place]).desired.tenancy, undefined, 'nothing serves yet')
  const serving = { ...place, current: root, candidate: named }
  t.equal(composeDesired([serving]).desired.tenancy, 'root-3')
  t.equal(composeDesired([{ ...serving, organizationId: null }]).desired.tenancy, 'root-0')
  t.equal(composeDesired([{ ...serving, current: named }]).desired.tenancy, 'domains')
  t.same(parseSources('{"sha":"x"}').domains, [], 'what an earlier version wrote')
  t.end()
})

void t.test(
  'everything is banned right before the new VCL becomes active, and not without need',
  (t) => {
    const loaded = (name: string, active: boolean) => ({ name, active, labelOf: null })
    const inventory = { childRunning: true, vcls: [loaded('old', true), loaded('new', false)] }
    const desired = { load: [{ name: 'new', sha: '1' }], labels: [], active: 'new' }
    const ours = new Set(['old', 'new'])
    const verbs = (more: object) =>
      planVcl({ desired, inventory, ours, ...more }).map((step) => step.do)
    t.same(verbs({ banFirst: true }), ['ban', 'use', 'discard'])
    t.same(verbs({}), ['use', 'discard'])
    const vcls = [loaded('new', true)]
    t.same(
      verbs({ banFirst: true, inventory: { childRunning: true, vcls } }),
      [],
      'it serves already',
    )
    const stopped = { childRunning: false, vcls: [] }
    t.notOk(verbs({ banFirst: true, inventory: stopped }).includes('ban'), 'it has stored nothing')
    t.end()
  },
)

void t.test(
  'placing many groups never puts a domain twice on an agent, or anything beside a root group',
  (t) => {
    const groups = fc.array(
      fc.record({
        fqdns: fc.subarray(['a', 'b', 'c', '*.a']),
        max: fc.integer({ min: 1, max: 4 }),
      }),
      { maxLength: 10 },
    )
    const property = fc.property(groups, fc.integer({ min: 1, max: 5 }), (wanted, count) => {
      const agents = indexAgents(
        Array.from({ length: count }, (_, at) => ({
          ...{
            id: at + 1,
            state: agentStates.Running,
            tagIds: [1],
            groupIds: [],
            rootGroupId: null,
          },
        })),
      )
      const held = new Map<number, { fqdns: readonly string[] }[]>()
      for (const [at, { fqdns, max }] of wanted.entries()) {
        const deployments = [{ id: 1, min: 1, max, tagIds: [1] }]
        const group = { id: at + 1, root: fqdns.length === 0, fqdns, deployments }
        const decision = placeGroup({ group, agents, placed: [] })
        recordPlacement(agents, group, decision)
        for (const { agentId } of decision.add)
          held.set(agentId, [...(held.get(agentId) ?? []), { fqdns }])
      }
      for (const there of held.values()) {
        const all = there.flatMap(({ fqdns }) => fqdns)
        if (new Set(all).size < all.length) throw new Error(`twice: ${all.join()}`)
        if (there.length > 1 && there.some(({ fqdns }) => fqdns.length === 0))
          throw new Error('a root group is not alone')
      }
    })

    fc.assert(property, { numRuns: 2000 })

    const agents = indexAgents([
      { id: 1, state: agentStates.Running, tagIds: [1], groupIds: [5], rootGroupId: null },
    ])
    noteDomains(agents, [{ agentId: 1, fqdn: 'a', groupId: 5 }])
    recordPlacement(agents, { id: 5, root: false }, { add: [], remove: [{ agentId: 1 }] })
    const deployments = [{ id: 1, min: 1, max: 1, tagIds: [1] }]
    const group = { id: 6, root: false, fqdns: ['a'], deployments }
    t.equal(placeGroup({ group, agents, placed: [] }).add.length, 1, 'who leaves frees its names')
    t.end()
  },
)
