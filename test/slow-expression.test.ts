/** What the linter takes for an expression that may need more than linear time. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { root } from './support/root.js'

type FindSlowPart = (pattern: string, flags: string) => string | null

// The bundle of the tests cannot import a file that it does not hold.
const { findSlowPart } = createRequire(join(root, 'package.json'))(
  join(root, 'scripts', 'slow-expression.mjs'),
) as { findSlowPart: FindSlowPart } // plain JavaScript, with this one export

void t.test('two parts without a bound that can read the same are flagged', (t) => {
  const slow = ['\\s*,\\s*', '\\s+$', '(a+)+$', '(a*)*$', '.*,.*', '^(.*)-(.*)x$', 'a\\w*\\d*b']
  for (const pattern of slow) t.type(findSlowPart(pattern, ''), 'string', pattern)
  t.end()
})

void t.test('what reads each character once is not', (t) => {
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
