/** Replies without JSON are parsed into records. The texts follow the formats in the source of the named releases. */
import t from 'tap'
import { parseBanner } from '../../protocol/release.js'
import { parseBackendListText } from '../../protocol/text/backend-list.js'
import { parseParamShowText } from '../../protocol/text/param-show.js'
import {
  parseBanListText,
  parseHelpText,
  parsePidText,
  parseStatusText,
  parseStorageListText,
} from '../../protocol/text/process.js'
import { parseVclListText } from '../../protocol/text/vcl-list.js'

const garbled = { name: 'ManagementPortError', kind: 'garbled' }

void t.test('vcl.list is parsed with state and temperature joined or separate', (t) => {
  const row = { busy: 0, labels: 0, label: null }
  const cases = {
    // mgt_vcl.c, cache_vcl.c: `%-10s %4s/%s  %6u %s` and `%-10s %5s/%-8s %6u %s`.
    '4.1': 'active     auto/warm       0 boot\n',
    '6.0': 'active      auto/warm          0 boot\n',
    '7.1': 'active      auto    warm         0    boot\n',
  }
  for (const [version, text] of Object.entries(cases))
    t.strictSame(
      parseVclListText(text),
      [{ ...row, name: 'boot', status: 'active', state: 'auto', temperature: 'warm' }],
      version,
    )
  t.end()
})

void t.test('vcl.list is parsed with labels, their targets and reference counts', (t) => {
  const text = [
    'available  auto    warm        0   shop-1   <-   (1 label)',
    'available  label   warm        0   l-shop   ->   shop-1 (2 return(vcl)s)',
    'available  label/warm          0 l-blog -> blog-1 (1 return(vcl))',
    'discarded  cold    busy        -   shop-1',
    '',
  ].join('\n')
  const rows = parseVclListText(text)
  t.strictSame(
    rows.map(({ name, labels, label }) => ({ name, labels, label })),
    [
      { name: 'shop-1', labels: 1, label: null },
      { name: 'l-shop', labels: 0, label: { target: 'shop-1', refs: 2 } },
      { name: 'l-blog', labels: 0, label: { target: 'blog-1', refs: 1 } },
      { name: 'shop-1', labels: 0, label: null },
    ],
  )
  t.strictSame(rows[3]?.status, 'discarded')
  t.strictSame(rows[3]?.busy, null)
  t.throws(() => parseVclListText('\n'), garbled, 'an empty list is an error')
  t.throws(() => parseVclListText('sleeping auto warm 0 boot'), garbled)
  t.throws(() => parseVclListText('active boot'), garbled)
  t.end()
})

void t.test('backend.list is parsed with three, four and five columns', (t) => {
  // Formats of do_list in cache_backend_cfg.c (4.1, 5.0), cache_director.c (6.0) and a reply of 7.1.1.
  const cases: [string, string][] = [
    [
      '4.1',
      `${'Backend name'.padEnd(30)} Admin      Probe\n${'boot.a'.padEnd(30)} probe      Healthy 5/5`,
    ],
    [
      '6.0',
      `${'Backend name'.padEnd(30)} Admin      Probe                Last updated\n${'boot.a'.padEnd(30)} probe      Healthy              5/5 Fri, 20 Nov 2026 08:27:16 GMT`,
    ],
    [
      '7.1',
      'Backend name   Admin      Probe    Health     Last change\nboot.a         probe      5/5      healthy    Fri, 20 Nov 2026 08:27:16 GMT\n Current states  good:  5 threshold:  3 window:  5\n',
    ],
  ]
  for (const [version, text] of cases)
    t.match(
      parseBackendListText(text),
      [{ name: /^boot\.a/, adminHealth: 'probe', good: 5, total: 5, isHealthy: true }],
      version,
    )
  // 6.1, VBP_Status and do_list; `-p` draws lines without indentation.
  t.match(
    parseBackendListText(
      'Backend name Admin Probe Last change\nboot.a probe 5/5 good Fri, 20 Nov 2026 08:27:16 GMT\nCurrent states  good:  5 threshold:  3 window:  5\n  Oldest ==\nboot.b probe 0/8 bad Fri, 20 Nov 2026 08:27:16 GMT\nboot.c probe healthy Fri, 20 Nov 2026 08:27:16 GMT',
    ),
    [
      { name: 'boot.a', good: 5, total: 5, isHealthy: true },
      { name: 'boot.b', good: 0, total: 8, isHealthy: false },
      { name: 'boot.c', good: 0, total: 0, isHealthy: true },
    ],
  )
  const sick =
    'Backend name   Admin    Probe    Health    Last change\nboot.b sick Sick 0/8 never\n'
  t.match(parseBackendListText(sick), [{ isHealthy: false, good: 0, lastChangeSeconds: null }])
  t.equal(
    parseBackendListText(cases[2]?.[1] ?? '')[0]?.lastChangeSeconds,
    Date.UTC(2026, 10, 20, 8, 27, 16) / 1000,
  )
  t.throws(() => parseBackendListText(''), garbled)
  t.throws(() => parseBackendListText('Backend name\nboot.b\n'), garbled)
  t.end()
})

void t.test('param.show is parsed into value, unit, bounds and description of each block', (t) => {
  const text = [
    'cc_command',
    '        Value is: exec x [y] %s',
    '        Default is: exec gcc',
    '',
    '        The command.',
    '',
    'default_ttl',
    '        Value is: 120.000 [seconds] (default)',
    '        Minimum is: 0.000',
    '',
    '        The TTL',
    '        assigned to objects.',
    '',
  ].join('\n')
  t.match(parseParamShowText(text), [
    {
      name: 'cc_command',
      value: 'exec x [y] %s',
      default: 'exec gcc',
      description: 'The command.',
    },
    {
      name: 'default_ttl',
      value: '120.000',
      units: 'seconds',
      default: '120.000',
      minimum: '0.000',
      maximum: null,
      description: 'The TTL\nassigned to objects.',
    },
  ])
  t.throws(() => parseParamShowText('What?\n'), garbled)
  t.end()
})

void t.test('bans, processes, stores and commands are parsed from text', (t) => {
  const bans = [
    'Present bans:',
    '1795163021.520645     0 -  req.url !~ a b',
    '1795163236.111161     7 C  ',
    '1795163236.100000     0 -RO 0x7f00ab   req.url ~ x',
    '  oc = 0x7f00ac',
    '1795163236.000000     0    req.url ~ 4.1',
    '',
  ].join('\n')
  t.strictSame(parseBanListText(bans), [
    {
      timeSeconds: 1795163021.520645,
      references: 0,
      isCompleted: false,
      expression: 'req.url !~ a b',
    },
    { timeSeconds: 1795163236.111161, references: 7, isCompleted: true, expression: '' },
    { timeSeconds: 1795163236.1, references: 0, isCompleted: false, expression: 'req.url ~ x' },
    { timeSeconds: 1795163236, references: 0, isCompleted: false, expression: 'req.url ~ 4.1' },
  ])
  t.throws(() => parseBanListText('no'), garbled)
  t.throws(() => parseBanListText('Present bans:\nnonsense'), garbled)
  t.equal(parseStatusText('Child in state died, (restarting)'), 'died')
  t.throws(() => parseStatusText('Child in state of shock'), garbled)
  t.strictSame(parsePidText('Master:      28134\nWorker:      28172\n'), {
    master: 28134,
    worker: 28172,
  })
  t.strictSame(parsePidText('Master:      28134\n'), { master: 28134, worker: null })
  t.throws(() => parsePidText(''), garbled)
  t.strictSame(
    parseStorageListText('Storage devices:\n\tstorage.s0 = file\n\tstorage.Transient = malloc\n'),
    [
      { name: 's0', kind: 'file' },
      { name: 'Transient', kind: 'malloc' },
    ],
  )
  t.throws(() => parseStorageListText(''), garbled)
  t.strictSame(parseHelpText('ping [-j] [<timestamp>]\nquit\n\n'), [
    { name: 'ping', syntax: 'ping [-j] [<timestamp>]', hasJson: true },
    { name: 'quit', syntax: 'quit', hasJson: false },
  ])
  t.end()
})

void t.test('the banner is parsed leniently', (t) => {
  const lines = [
    '-----',
    'Varnish Cache CLI 1.0',
    '-----',
    'Linux,6.18.44-x-v5,x86_64,-junix',
    '',
    '',
  ]
  const read = (line: string) => {
    const { product, version } = parseBanner(lines.toSpliced(4, 0, line).join('\n'))
    return [product, version]
  }
  t.strictSame(read('varnish-7.1.1 revision 7cee1c58'), ['varnish', '7.1.1'])
  t.strictSame(read('varnish-plus-6.0.13r8 revision abc'), ['varnish-plus', '6.0.13r8'])
  t.strictSame(read('vinyl-cache-9.0.0 revision NOGIT'), ['vinyl-cache', '9.0.0'])
  t.strictSame(read('varnish-trunk revision abc'), ['varnish', null])
  t.strictSame(read('something else'), [null, null])
  t.end()
})
