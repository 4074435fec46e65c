/** Puts a text where it can be pasted. */
import { toast } from './toasts.js'

export async function copyText(text: string): Promise<void> {
  if (await writeText(text)) toast('Copied.')
  else toast('The browser does not let this page copy; select the text instead.')
}

/** Browsers have the clipboard on HTTPS and on this machine only; the old way works elsewhere. */
async function writeText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Outside of an open dialog nothing can be selected.
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
