/** Which regular expressions the linter flags because they may need more than linear time. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { root } from './support/root.js'

type FindSlowPart = (pattern: string, flags: string) => string | null

// The bundled tests cannot import a file outside of their bundle.
const { findSlowPart } = createRequire(join(root, 'package.json'))(
  join(root, 'scripts', 'slow-expression.mjs'),
) as { findSlowPart: FindSlowPart } // plain JavaScript, with this one export

void t.test('two unbounded parts that can match the same text are flagged', (t) => {
  const slow = ['\\s*,\\s*', '\\s+$', '(a+)+$', '(a*)*$', '.*,.*', '^(.*)-(.*)x$', 'a\\w*\\d*b']
  for (const pattern of slow) t.type(findSlowPart(pattern, ''), 'string', pattern)
  t.end()
})

void t.test('expressions that read each character once are not flagged', (t) => {
  const linear = [
    '^[a-z]+$',
    '^\\s{0,64},\\s{0,64}$',
    '^([^:]+):(\\d+)$',
    '^(?:a|b)*$',
    ' {1,8}x',
    '^a*b*$',
  ]
  for (const pattern of linear) t.equal(findSlowPart(pattern, ''), null, pattern)
  t.end()
})
