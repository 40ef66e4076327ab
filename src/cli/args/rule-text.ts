/** Minutes and hours have no letters in cron, but for `H`; words have. */
const CRON = /^(?:[\d*?,/H()-]+\s+){2}\S+\s+\S+\s+\S+(?:\s+\S+)?$/

/** A rule as people type it: cron if it looks like it, words otherwise. */
export function ruleOf(text: string): { readonly cron: string } | { readonly every: string } {
  const rule = text.trim()
  return rule.startsWith('@') || CRON.test(rule) ? { cron: rule } : { every: rule }
}
