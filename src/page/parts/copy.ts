/** Copies a text to the clipboard. */
import { toast } from './toasts.js'

export async function copyText(text: string): Promise<void> {
  if (await writeText(text)) toast('Copied.')
  else toast('The browser does not let this page copy; select the text instead.')
}

/** Browsers offer the clipboard API only on HTTPS and localhost; elsewhere `execCommand` still works. */
async function writeText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // While a dialog is open, nothing outside it can be selected.
    const area = document.createElement('textarea')
    area.value = text
    const place = document.querySelector('dialog[open]') ?? document.body
    place.append(area)
    area.select()
    // oxlint-disable-next-line typescript/no-deprecated -- there is no other way without HTTPS
    const isCopied = document.execCommand('copy')
    area.remove()
    return isCopied
  }
}
