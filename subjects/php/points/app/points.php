<?php error_reporting( E_ALL );

class point {
    var $x;
    var $y;

    function magnitude() {
        return sqrt($this->x*$this->x+$this->y*$this->y);
    }

    function scale($p) {
        $factor = $p->magnitude() / $this->magnitude();
        $this->x = $this->x * $factor;
        $this->y = $this->y * $factor;
    }
};

$x = new point();
$x->x = $_REQUEST['x'];
$x->y = $_REQUEST['y'];

if (isset($_REQUEST['scale_x']) &&
    isset($_REQUEST['scale_y'])) {
    $scale = new point();
    $scale->x = $_REQUEST['scale_x'];
    $scale->y = $_REQUEST['scale_y'];
}

$x->scale($scale);

print $x->x." ".$x->y." ".$x->magnitude()."\n";
?>
