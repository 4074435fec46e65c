/** The moments under a chart: as short as their distance allows, in this machine's zone. */

const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** `stepSeconds`: between two of them. */
export function formatTick(seconds: number, stepSeconds: number): string {
  const moment = new Date(seconds * 1000)
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0
  if (stepSeconds >= 86_400 || (isMidnight && stepSeconds >= 3_600)) return day.format(moment)
  return (stepSeconds >= 60 ? minute : second).format(moment)
}
