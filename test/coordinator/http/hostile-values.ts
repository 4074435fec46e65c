/** Hostile values by the place where they stand (JSON text, path, query), in the spelling of that place. */

/** JSON texts, some of which `JSON.stringify` would never produce. */
export const jsonTexts: readonly string[] = [
  ...[
    'null',
    'true',
    '-1',
    '0',
    '-0',
    '1.5',
    '0.1',
    '1e308',
    '1e999',
    '4294967296',
    '253402300800',
  ],
  ...['9007199254740991', '-9007199254740991', '9007199254740993'],
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\u202e\\u2028\\n"',
    '"🤡"',
    '"*"',
    '"1"',
  ],
  ...['"%_\\\\"', '"../../etc/passwd"', '"__proto__"', '"constructor"', '"http://["'],
  ...[`"'; drop table tags; --"`, '"https://user:pw@127.0.0.1/"', '"2026-13-45T99:99:99Z"'],
  ...[
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '[{}]',
    '{"id":1e308}',
    '{"id":"1"}',
    '{"id":-1}',
    '{"id":null}',
  ],
  ...['{"id":9007199254740991}', '[{"id":9007199254740991}]', '[{"__proto__":1}]'],
  ...['{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}'],
  `${'['.repeat(60)}${']'.repeat(60)}`,
  JSON.stringify('x'.repeat(70_000)),
  `[${Array.from({ length: 5000 }, () => '{"id":1}').join(',')}]`,
  JSON.stringify(Array.from({ length: 3000 }, (_, index) => `name ${index}`)),
]

/** Segments of a path. */
export const pathSteps: readonly string[] = [
  ...[
    '%00',
    'a%00b',
    '%0d%0a',
    '%2F',
    '%2e%2e%2f',
    '..',
    '%5C',
    '%25',
    '%ff',
    '%20',
    '%F0%9F%92%A9',
  ],
  ...['__proto__', 'constructor', 'toString', 'NaN', '*', ',', "'", '"', '0', '-1', '1.5', '1e9'],
  ...['9007199254740991', '253402300799', '999999999999', 'x'.repeat(3000)],
]

/** Values of query parameters. */
export const queryValues: readonly string[] = [
  ...[
    '',
    '%00',
    '%ff',
    '%ed%a0%80',
    'a%0d%0ab',
    '%5C',
    '%25',
    '_',
    '*',
    '**',
    'a,b',
    '1=1',
    'true',
  ],
  ...['-1', '0', '1', '1e308', '99999999999999999999', '1,999999999999999', '1000,999999999999999'],
  ...['constructor', '[object Object]', 'id:desc', '%F0%9F%92%A9', 'x'.repeat(9000)],
  Array.from({ length: 1001 }, (_, index) => `a${index}`).join(','),
  Array.from({ length: 100 }, (_, index) => `*a${index}*`).join(','),
]

/** Query parameters that no call has. */
export const queryNames: readonly string[] = [
  ...['__proto__=1', '__proto__=1&__proto__=2', 'constructor=1', 'toString=1', 'hasOwnProperty=1'],
  ...['=1', '%00=1', '&&&', '%=%', 'a[]=1&a[b]=2'],
]

const mark = '@@here@@'

/** Splits the body at each of its parts, itself included, into `{before, behind}` of where another value may stand. */
export function splitAtParts(body: unknown): readonly { before: string; behind: string }[] {
  const texts: string[] = []
  const visit = (part: unknown, put: (other: unknown) => unknown): void => {
    texts.push(JSON.stringify(put(mark)))
    if (typeof part !== 'object' || part === null) return
    for (const key of Object.keys(part))
      visit(Reflect.get(part, key), (other) =>
        put(
          Array.isArray(part)
            ? part.map((item: unknown, index) => (String(index) === key ? other : item))
            : { ...part, [key]: other },
        ),
      )
  }
  visit(body, (other) => other)
  return texts.map((text) => {
    const [before = '', behind = ''] = text.split(JSON.stringify(mark))
    return { before, behind }
  })
}
