/** Folder of the checkout: a test runs from a bundle below `dist/`, or from its source. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = findCheckout(import.meta.dirname)

function findCheckout(folder: string): string {
  return existsSync(join(folder, 'package-lock.json')) ? folder : findCheckout(dirname(folder))
}
