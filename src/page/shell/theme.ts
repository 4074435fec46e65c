/** The theme: the system's, or dark or light as chosen here. */
import { signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Also read by first-paint.ts. */
const key = 'cachefleet.theme'

export const theme = signal<Theme>(
  themes.find((one) => one === localStorage.getItem(key)) ?? 'system',
)

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  if (chosen === 'system') {
    localStorage.removeItem(key)
    delete document.documentElement.dataset['theme']
  } else {
    localStorage.setItem(key, chosen)
    document.documentElement.dataset['theme'] = chosen
  }
}
