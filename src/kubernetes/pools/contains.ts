type Labels = Readonly<Record<string, string>> | undefined;

/** Whether all of these labels are there, each as it should be. */
export function contains(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => labels?.[name] === value);
}
