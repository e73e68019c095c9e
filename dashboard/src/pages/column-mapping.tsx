import type { Mapping } from '../batch/items.ts';
import type { RowFile } from '../batch/row-file.ts';
import { counted } from '../format.ts';

/** Which column of a file fills in which variable of a template, beside what the first row has there. */
export function ColumnMapping({
  file: { columns, rows },
  variables,
  mapping,
  onChange,
}: {
  file: RowFile;
  variables: readonly string[];
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}) {
  const lines = [
    ...variables.map((path) => ({
      name: path,
      column: mapping.variables[path] ?? '',
      none: 'Leave empty',
      set: (column: string) => onChange({ ...mapping, variables: { ...mapping.variables, [path]: column } }),
    })),
    {
      name: 'Id of the document',
      column: mapping.id,
      none: 'Number of the row',
      set: (id: string) => onChange({ ...mapping, id }),
    },
    {
      name: 'File name of the PDF',
      column: mapping.filename,
      none: 'Id of the document',
      set: (filename: string) => onChange({ ...mapping, filename }),
    },
  ];
  const missing = variables.filter((path) => (mapping.variables[path] ?? '') === '');
  const used = new Set([mapping.id, mapping.filename, ...Object.values(mapping.variables)]);
  const unused = columns.filter((column) => !used.has(column));
  return (
    <>
      <table>
        <caption className="unseen">What fills in what</caption>
        <thead>
          <tr>
            <th scope="col">In the template</th>
            <th scope="col">Column of the file</th>
            <th scope="col">In row {rows[0]?.number}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, column, none, set }) => (
            <tr key={name}>
              <td data-title="In the template">
                <bdi>{name}</bdi>
                {missing.includes(name) && <span className="badge busy">missing</span>}
              </td>
              <td data-title="Column">
                <select
                  aria-label={`Column for ${name}`}
                  value={column}
                  onChange={(event) => set(event.target.value)}
                >
                  <option value="">{none}</option>
                  {columns.map((each) => (
                    <option key={each} value={each}>
                      {each}
                    </option>
                  ))}
                </select>
              </td>
              <td data-title="In the first row">
                <bdi className="quiet">{column === '' ? '' : shown(rows[0]?.values[column])}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {missing.length > 0 && (
        <p className="note" role="status">
          {counted(missing.length, 'variable')} of the template {missing.length === 1 ? 'has' : 'have'} no
          column and will be empty: <bdi>{missing.join(', ')}</bdi>.
        </p>
      )}
      {unused.length > 0 && (
        <p className="quiet">
          Columns that are not used: <bdi>{unused.join(', ')}</bdi>.
        </p>
      )}
    </>
  );
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 80);
}
