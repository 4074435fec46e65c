/** Splits a file with chain and key, as some CA clients write it, so that the key is not left in the readable chain field. */
import { splitPem } from '../../../resources/pem.js'

interface Texts {
  readonly chain: string
  readonly key: string
}

/** Null: the text contains no key. */
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
