/** A rule of the linter: what comes from outside is matched in linear time, however it is made. */
import { findSlowPart } from './slow-expression.mjs'

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      slow: 'this expression may take more than linear time: {{part}} reads again what another part without a bound has read. Give one of the two a bound, keep what separates them out of both, or cut the text by hand',
      unread: 'this expression cannot be read: {{why}}',
    },
  },
  create: (context) => ({
    'Literal[regex]': (node) => check(context, node, node.regex.pattern, node.regex.flags),
    'NewExpression[callee.name="RegExp"], CallExpression[callee.name="RegExp"]': (node) => {
      const [pattern, flags] = node.arguments
      const isKnown = typeof pattern?.value === 'string'
      if (isKnown) check(context, node, pattern.value, String(flags?.value ?? ''))
    },
  }),
}

function check(context, node, pattern, flags) {
  try {
    const part = findSlowPart(pattern, flags)
    if (part !== null) context.report({ node, messageId: 'slow', data: { part } })
  } catch (error) {
    context.report({ node, messageId: 'unread', data: { why: error.message } })
  }
}

export default { meta: { name: 'cachefleet' }, rules: { 'linear-expressions': rule } }
