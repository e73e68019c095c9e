type Labels = Readonly<Record<string, string>> | undefined;

/** Whether all wanted labels are there, each with its value. */
export function contains(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => labels?.[name] === value);
}
