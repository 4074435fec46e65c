/** A file that has both, as some clients of certificate authorities write it: its key does not stay where the chain is readable. */
import { splitPem } from '../../../resources/pem.js'

interface Texts {
  readonly chain: string
  readonly key: string
}

/** Null: the text has no key. */
export function moveKey(text: string): Texts | null {
  const blocks = splitPem(text)
  const isKey = ({ label }: { readonly label: string }): boolean => label.endsWith('PRIVATE KEY')
  if (!blocks.some(isKey)) return null
  const join = (some: typeof blocks): string => some.map((block) => block.text).join('')
  return {
    chain: join(blocks.filter((block) => !isKey(block))),
    key: join(blocks.filter(isKey)),
  }
}
