//! The charts as one SVG file.

use std::fmt::Write as _;

use super::days::{ActiveDay, level};

/// Size of a day in the heatmap, with its gap.
const CELL: usize = 13;
const LEFT: usize = 60;
const HEAT_TOP: usize = 44;
const PLOT_TOP: usize = HEAT_TOP + 7 * CELL + 50;
const PLOT_HEIGHT: usize = 120;

/// Draws the heatmap of responses and the plot of the cost. Both follow the reader's light or dark theme.
#[expect(clippy::cast_precision_loss, reason = "coordinates of a few hundred pixels")]
pub(super) fn svg(days: &[ActiveDay]) -> String {
    let weekday = |day: &ActiveDay| usize::try_from(day.date.weekday().to_monday_zero_offset()).unwrap_or(0);
    let offset = days.first().map_or(0, weekday);
    let weeks = (offset + days.len()).div_ceil(7).max(20);
    let (width, height) = (LEFT + weeks * CELL + 20, PLOT_TOP + PLOT_HEIGHT + 40);
    let most = days.iter().map(|day| day.responses).max().unwrap_or(0);
    let dearest = days.iter().map(|day| day.usd).fold(0.0, f64::max);
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Responses and cost per day">
<style>
svg {{ background: #fff; color: #1f2328; font: 11px system-ui, sans-serif }}
text {{ fill: currentColor }}
.h {{ font-weight: 600; font-size: 13px }}
.l0 {{ fill: #ebedf0 }} .l1 {{ fill: #c6dbef }} .l2 {{ fill: #6baed6 }} .l3 {{ fill: #2171b5 }} .l4 {{ fill: #08306b }}
.line {{ fill: none; stroke: #2171b5; stroke-width: 1.5 }} .axis {{ stroke: currentColor; stroke-opacity: .3 }}
@media (prefers-color-scheme: dark) {{
svg {{ background: #0d1117; color: #e6edf3 }}
.l0 {{ fill: #21262d }} .l1 {{ fill: #08306b }} .l2 {{ fill: #2171b5 }} .l3 {{ fill: #6baed6 }} .l4 {{ fill: #deebf7 }}
.line {{ stroke: #6baed6 }}
}}
</style>
<text class="h" x="{LEFT}" y="18">Responses per day</text>
"#
    );
    // Writing into a String cannot fail.
    for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
        let y = HEAT_TOP + row * CELL + 10;
        let _ = writeln!(text, r#"<text x="{}" y="{y}" text-anchor="end">{name}</text>"#, LEFT - 8);
    }
    let mut month = None;
    for (at, day) in days.iter().enumerate() {
        let (week, row) = ((offset + at) / 7, (offset + at) % 7);
        let (x, y) = (LEFT + week * CELL, HEAT_TOP + row * CELL);
        if month != Some(day.date.month()) && (row == 0 || at == 0) {
            month = Some(day.date.month());
            let name = day.date.strftime("%b");
            let _ = writeln!(text, r#"<text x="{x}" y="{}">{name}</text>"#, HEAT_TOP - 6);
        }
        let level = level(day.responses, most);
        let (date, responses) = (day.date, day.responses);
        let _ = writeln!(
            text,
            r#"<rect class="l{level}" x="{x}" y="{y}" width="11" height="11" rx="2"><title>{date}: {responses}</title></rect>"#
        );
    }
    let bottom = PLOT_TOP + PLOT_HEIGHT;
    let right = width - 20;
    let _ = writeln!(text, r#"<text class="h" x="{LEFT}" y="{}">Cost per day</text>"#, PLOT_TOP - 14);
    let _ = writeln!(text, r#"<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>"#);
    let _ = writeln!(
        text,
        r#"<text x="{}" y="{}" text-anchor="end">${dearest:.2}</text>"#,
        LEFT - 8,
        PLOT_TOP + 8
    );
    let _ = writeln!(text, r#"<text x="{}" y="{bottom}" text-anchor="end">$0</text>"#, LEFT - 8);
    let step = (right - LEFT) as f64 / days.len().saturating_sub(1).max(1) as f64;
    let point = |(at, day): (usize, &ActiveDay)| {
        let share = if dearest > 0.0 { day.usd / dearest } else { 0.0 };
        let (x, y) = (LEFT as f64 + at as f64 * step, bottom as f64 - share * PLOT_HEIGHT as f64);
        format!("{x:.1},{y:.1}")
    };
    let points: Vec<String> = days.iter().enumerate().map(point).collect();
    let _ = writeln!(text, r#"<polyline class="line" points="{}"/>"#, points.join(" "));
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        let y = bottom + 18;
        let _ = writeln!(text, r#"<text x="{LEFT}" y="{y}">{}</text>"#, first.date);
        let _ = writeln!(text, r#"<text x="{right}" y="{y}" text-anchor="end">{}</text>"#, last.date);
    }
    text.push_str("</svg>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::super::days::tests::days;
    use super::*;

    #[test]
    fn an_svg_has_a_cell_and_a_point_per_day() {
        let text = svg(&days(&[0, 1, 4, 2]));
        assert_eq!((text.matches("<rect").count(), text.matches("class=\"l4\"").count()), (4, 1));
        assert!(text.contains("2026-11-04: 4"), "{text}");
        let points = text.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(points.split(' ').count(), 4);
        assert!(svg(&[]).ends_with("</svg>\n"));
    }
}
