/**
 * In cron, minutes and hours contain no letters except `H`; phrases do. The number of fields does
 * not matter here: the cron parser reports errors best.
 */
const CRON = /^(?:[\d*?,/H()-]+\s+[\d*?,/H()-]+(?:\s|$)|[*?]\S*$)/

/** Reads a rule: cron if it looks like cron, otherwise a phrase. */
export function ruleOf(text: string): { readonly cron: string } | { readonly every: string } {
  const rule = text.trim()
  return rule.startsWith('@') || CRON.test(rule) ? { cron: rule } : { every: rule }
}
